/** How busy each worker's cores are, looked at every so often, as a cloud's monitoring tells it. */

import { type Core, setTimer } from '../core.ts'
import type { WorkerRecord } from '../state.ts'

/** Begins to look. */
export function planPolls(core: Core): void {
  const everyMs = core.limits.cpuEveryMs || (core.scaler.cpuEveryMs ?? 0)
  if (everyMs > 0) setTimer(core, { kind: 'cpu', id: 'every' }, core.now + everyMs)
}

/** CPU time of its jobs, as the worker says it. What it had before the first time is no figure of this cluster. */
export function noteCpu(core: Core, worker: WorkerRecord, ms: number): void {
  worker.cpuSaid = { ms, at: core.now }
  worker.cpuPolled ??= worker.cpuSaid
}

export function pollAll(core: Core): void {
  planPolls(core)
  for (const worker of core.workers.values()) poll(core, worker)
}

/** A worker that has said nothing since the last time has no new figure. */
function poll(core: Core, worker: WorkerRecord): void {
  const { cpuSaid, cpuPolled, cores } = worker
  if (!cpuSaid || !cpuPolled || cpuSaid.at <= cpuPolled.at) return
  const share = (cpuSaid.ms - cpuPolled.ms) / ((cpuSaid.at - cpuPolled.at) * cores)
  worker.cpu = Math.min(1, Math.max(0, share))
  worker.cpuPolled = cpuSaid
  core.scheduler.refile(worker)
}
