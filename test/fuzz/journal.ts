/** A file with the input that is being parsed. The parent reads it when the process hangs, is killed or runs out of memory. */

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

const headBytes = 8

export interface Entry {
  number: number
  input: Buffer
}

export class Journal {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'w')
  }

  write({ number, input }: Entry): void {
    const head = Buffer.allocUnsafe(headBytes)
    head.writeUInt32BE(number, 0)
    head.writeUInt32BE(input.length, 4)
    writeSync(this.#file, Buffer.concat([head, input]), 0, headBytes + input.length, 0)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** Undefined: nothing has been written yet. */
export function readJournal(path: string): Entry | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch {
    return undefined
  }
  if (bytes.length < headBytes) return undefined
  const length = bytes.readUInt32BE(4)
  return { number: bytes.readUInt32BE(0), input: bytes.subarray(headBytes, headBytes + length) }
}
