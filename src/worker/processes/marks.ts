/**
 * Marks in the environment of slots and programs. Processes that they start inherit the mark, also if they leave the
 * process group or are adopted by another process, so that they are found when the slot or program ends.
 */

import { readlinkSync } from 'node:fs'
import { attempt, statFields } from './proc.ts'

export const markName = 'PLIMSOLL_GROUP'

/** Of this system: the same process id in another container is another process. */
const namespace = /\d+/.exec(attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '')?.[0] ?? '0'

/** Process ids are reused, but not together with the start time. */
function startTime(pid: number): string | undefined {
  return statFields(pid)?.[19]
}

let pools = 0

/** The marks of one pool's processes. */
export class Marks {
  /** The beginning of all marks of the pool. */
  readonly prefix: string
  #count = 0

  constructor() {
    this.prefix = `${namespace}-${process.pid}-${startTime(process.pid) ?? 0}-${++pools}.`
  }

  next(): string {
    return `${this.prefix}${++this.#count}`
  }
}

/** True: the worker that made the mark ran on this system and has ended. */
export function isOrphaned(mark: string): boolean {
  const [, where, pid, start] = /^(\d+)-(\d+)-(\d+)-\d+\.\d+$/.exec(mark) ?? []
  return where === namespace && where !== '0' && startTime(Number(pid)) !== start
}
