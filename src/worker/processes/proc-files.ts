/** Files of /proc that are read often. They are kept open, which makes a reading three times as fast. */
import { closeSync, openSync, readSync } from 'node:fs'

/** Of all groups of this process together; further files are opened for each reading. */
const maxOpen = 2_000
let open = 0

const buffer = Buffer.allocUnsafe(4096)

export class ProcFiles {
  readonly #files = new Map<string, number>()

  /** Undefined if the process or thread has ended. The buffer is valid until the next reading. */
  read(name: string): Buffer | undefined {
    const kept = this.#files.get(name)
    let file = kept
    try {
      file ??= openSync(`/proc/${name}`, 'r')
      const bytes = readSync(file, buffer, 0, buffer.length, 0)
      if (kept === undefined) this.#keep(name, file)
      return buffer.subarray(0, bytes)
    } catch {
      if (kept !== undefined) this.#forget(name, kept)
      else if (file !== undefined) closeSync(file)
      return undefined
    }
  }

  /** Closes a file that is not needed any more. */
  drop(name: string): void {
    const file = this.#files.get(name)
    if (file !== undefined) this.#forget(name, file)
  }

  close(): void {
    for (const [name, file] of this.#files) this.#forget(name, file)
  }

  #keep(name: string, file: number): void {
    if (open >= maxOpen) return closeSync(file)
    open++
    this.#files.set(name, file)
  }

  #forget(name: string, file: number): void {
    this.#files.delete(name)
    open--
    closeSync(file)
  }
}
