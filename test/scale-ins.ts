/** Workers are taken out of a busy live fleet, again and again. */

import { type Load, nap, naps, patienceMs, steered } from './fleet-load.ts'
import { startLive, stopLive } from './live.ts'
import { until } from './processes.ts'

export interface ScaleIns {
  load: Load
  /** Workers that were taken out, and those of them that had jobs in their hands then. */
  taken: number
  busy: number
  /** Jobs that came into the hands of a worker that was draining. */
  late: number
  /** Workers that did not end as they were to. */
  lost: number
}

/** Grows to `max` and shrinks to one under the load of many clients until so many workers have been taken out. */
export async function scaleIns(least: number, max: number): Promise<ScaleIns> {
  const scaler = steered()
  const live = await startLive({ files: [naps], min: 1, max, slots: 6, queue: 1000, scaler })
  const load: Load = { sent: 0, troubles: [] }
  /** What each draining worker had in its hands when it was first seen to drain. */
  const hands = new Map<string, Set<string>>()
  let late = 0
  const look = () => {
    for (const { id, state, jobs } of live.state().workers) {
      if (state !== 'draining') continue
      const known = hands.get(id)
      if (!known) hands.set(id, new Set(jobs.map(({ job }) => job)))
      else late += jobs.filter(({ job }) => !known.has(job)).length
    }
  }
  const isSmall = () => {
    look()
    const { ready, draining } = live.state()
    return ready === 1 && draining === 0
  }
  const named = (change: string) =>
    live
      .state()
      .steps.filter((step) => step.change === change)
      .flatMap(({ names }) => names).length
  let over = false
  const clients = Array.from({ length: 20 }, async (_, i) => {
    for (let n = 0; !over; n++) {
      await nap(live, load, 50 + ((i * 37 + n * 61) % 250))
      look()
    }
  })
  try {
    while (named('drain') < least) {
      scaler.target = max
      await until('the fleet is large', () => live.state().ready === max, patienceMs)
      scaler.target = 1
      await until('the fleet is small', isSmall, patienceMs)
    }
    over = true
    await Promise.all(clients)
    const busy = [...hands.values()].filter((jobs) => jobs.size > 0).length
    return { load, taken: named('drain'), busy, late, lost: named('lost') }
  } finally {
    over = true
    await stopLive(live)
  }
}
