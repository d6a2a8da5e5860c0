/**
 * CPU polls: how busy each worker's cores were between two polls, as a cloud's monitoring tells it. Time in which jobs
 * waited for a core counts as busy, so that workers that share the cores of one machine read as machines of their own.
 */

import type { Concern, Core } from '../core.ts'
import type { WorkerRecord } from '../state.ts'
import { setTimer } from '../timers.ts'

export const cpu: Concern = {
  name: 'cpu',
  isActive: (core) => everyMs(core) > 0,
  begins: plan,
  reported(core, worker, cpuMs) {
    if (cpuMs === undefined || !(cpuMs >= 0 && cpuMs < Infinity)) return
    worker.cpuReported = { ms: cpuMs, at: core.now }
    // CPU time before the first report does not belong to any interval between polls.
    worker.cpuPolled ??= worker.cpuReported
  },
  timers: {
    cpu(core) {
      plan(core)
      for (const worker of core.workers.values()) poll(core, worker)
    },
  },
}

function everyMs({ limits, scaler }: Core): number {
  return limits.cpuEveryMs || (scaler.cpuEveryMs ?? 0)
}

function plan(core: Core): void {
  setTimer(core, { kind: 'cpu', id: 'every' }, core.now + everyMs(core))
}

/** A worker that has not reported since the last poll keeps its figure. */
function poll(core: Core, worker: WorkerRecord): void {
  const { cpuReported, cpuPolled, cores } = worker
  if (!cpuReported || !cpuPolled || cpuReported.at <= cpuPolled.at) return
  const share = (cpuReported.ms - cpuPolled.ms) / ((cpuReported.at - cpuPolled.at) * cores)
  worker.cpu = Math.min(1, Math.max(0, share))
  worker.cpuPolled = cpuReported
  core.scheduler.refile(worker)
}
