/** The disk of a virtual brain: full, failing or slow for a while. A slow write blocks its process, as a real one does. */

import type { VirtualProcess } from './time.ts'

export class VirtualDisk {
  readonly #now: () => number
  #badUntilMs = 0
  #kind: 'full' | 'slow' = 'full'
  /** Writes that failed or took long. */
  faults = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Makes writes fail, or take long, for this time. */
  disturb(kind: 'full' | 'slow', ms: number): void {
    this.#kind = kind
    this.#badUntilMs = this.#now() + ms
  }

  /** Throws if the disk is full. */
  write(process: VirtualProcess): void {
    if (this.#now() >= this.#badUntilMs) return
    this.faults++
    if (this.#kind === 'full') throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
    process.frozenUntilMs = Math.max(process.frozenUntilMs, this.#now() + 50)
  }
}
