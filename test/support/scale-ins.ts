/** Repeated scale-ins of a busy live fleet. */

import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLog } from '../../src/brain/log/read-log.ts'

import { type Load, nap, naps, patienceMs, steered } from './fleet-load.ts'
import { startLive, stopLive } from './live.ts'
import { until } from './processes.ts'

export interface ScaleIns {
  load: Load
  /** Drained workers, and those of them that had jobs at that time. */
  taken: number
  busy: number
  /** Attempts that were sent to a draining worker, according to the event log. */
  late: number
  /** Workers that were lost instead of drained. */
  lost: number
}

/** Grows to `max` and shrinks to one worker, under the load of many clients, until `least` workers have been drained. */
export async function scaleIns(least: number, max: number): Promise<ScaleIns> {
  const scaler = steered()
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-scale-ins-'))
  const eventLog = join(folder, 'events.ndjson')
  const live = await startLive({ files: [naps], min: 1, max, slots: 6, queue: 1000, scaler, eventLog })
  const load: Load = { sent: 0, troubles: [] }
  const hadJobs = new Set<string>()
  const look = () => {
    for (const { id, state, jobs } of live.state().workers)
      if (state === 'draining' && jobs.length > 0) hadJobs.add(id)
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
    const seen = { load, taken: named('drain'), busy: hadJobs.size, lost: named('lost') }
    await live.stop(0)
    return { ...seen, late: await sentLate(eventLog) }
  } finally {
    over = true
    await stopLive(live)
    rmSync(folder, { recursive: true, force: true })
  }
}

async function sentLate(eventLog: string): Promise<number> {
  const draining = new Set<string>()
  let late = 0
  const file = await open(eventLog)
  await readLog(file.readLines(), ({ actions }) => {
    for (const action of actions) {
      if (action.type === 'drain') draining.add(action.worker)
      if (action.type === 'run' && draining.has(action.worker)) late++
    }
    return true
  })
  return late
}
