/** What jobs have used of the CPU time of their slot's process, and how long they waited for a core. */

import { cpuMs, queuedMs } from '../processes/proc.ts'

export class SlotCpu {
  readonly #pid: number
  readonly #base: { cpuMs: number; queuedMs: number }
  /** As of the last reading. */
  usedMs = 0
  queuedMs = 0

  /** `baseCpuMs`: CPU time of the process before these jobs. */
  constructor(pid: number, baseCpuMs = cpuMs(pid) ?? 0) {
    this.#pid = pid
    this.#base = { cpuMs: baseCpuMs, queuedMs: queuedMs(pid) ?? 0 }
  }

  /** Without effect if the process has ended. */
  read(): this {
    this.noteTotal(cpuMs(this.#pid) ?? 0)
    this.queuedMs = Math.max(this.queuedMs, (queuedMs(this.#pid) ?? 0) - this.#base.queuedMs)
    return this
  }

  /** CPU time of the process so far, as it reported it itself. */
  noteTotal(totalMs: number): void {
    this.usedMs = Math.max(this.usedMs, totalMs - this.#base.cpuMs)
  }
}
