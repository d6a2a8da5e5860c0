/**
 * CPU polls: how busy each worker's cores were between two polls, by its own reports or as a cloud's monitoring tells it. In
 * reports, time in which jobs waited for a core counts as busy, so that workers that share the cores of one machine read as
 * machines of their own.
 */

import type { Event } from '../../model/event.ts'
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
      if (core.limits.cpuReadings) core.actions.push({ type: 'read-cpu' })
      else for (const worker of core.workers.values()) poll(core, worker)
    },
  },
}

/** A worker without data keeps its figure, or has none. */
export function noteCpu(core: Core, { shares }: Extract<Event, { type: 'cpu-read' }>): void {
  for (const { worker: id, share } of shares) {
    const worker = core.workers.get(id)
    if (!worker || !(share >= 0 && share <= 1)) continue
    worker.cpu = share
    core.scheduler.refile(worker)
  }
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
