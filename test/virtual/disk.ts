/** The disk of a virtual brain: full, failing or slow for a while. A slow write blocks its process, as a real one does. */

import type { Random } from '../../src/lib/random.ts'
import type { VirtualProcess } from './time.ts'

const kinds = ['full', 'slow', 'failing'] as const
export type DiskFault = (typeof kinds)[number]

export class VirtualDisk {
  readonly #now: () => number
  readonly #random: Random
  #badUntilMs = 0
  #kind: DiskFault = 'full'
  /** Writes that failed or took long. */
  faults = 0

  constructor(now: () => number, random: Random) {
    this.#now = now
    this.#random = random
  }

  /** Makes writes fail, or take long, for this time. */
  disturb(ms: number): void {
    this.#kind = kinds[this.#random.below(kinds.length)]!
    this.#badUntilMs = this.#now() + ms
  }

  /** Throws if the disk is full or failing; on a failing disk some data is written all the same. */
  write(process: VirtualProcess, written = () => {}): void {
    if (this.#now() >= this.#badUntilMs) return written()
    this.faults++
    if (this.#kind === 'full') throw diskError('ENOSPC', 'no space left')
    if (this.#kind === 'failing' && this.#random.next() < 0.7) {
      if (this.#random.next() < 0.5) written()
      throw diskError('EIO', 'i/o error')
    }
    if (this.#kind === 'slow') process.frozenUntilMs = Math.max(process.frozenUntilMs, this.#now() + 50)
    written()
  }
}

function diskError(code: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code })
}
