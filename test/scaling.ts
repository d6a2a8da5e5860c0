/**
 * A live fleet that grows and shrinks: the load rises tenfold and falls back, and every step is told.
 * `node test/scaling.ts --seconds 30` shows it; the tests in scaling.test.ts use its parts.
 */

import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Scaler } from '../src/brain/scale/scaler.ts'
import type { ClusterState } from '../src/cluster.ts'
import { sizeText } from '../src/story/fleet-story.ts'
import { type Live, startLive, stopLive } from './live.ts'
import { until, workersOf } from './processes.ts'

export const naps = join(import.meta.dirname, 'fixtures', 'naps.ts')

/** For what takes a second on an idle machine, and much longer on a busy one. */
export const patienceMs = 60_000

export interface Load {
  sent: number
  /** Answers that were not right at once: their status, or what went wrong, and attempts. */
  troubles: string[]
}

/** One request that must be answered right at its first attempt. */
export async function nap(live: Live, load: Load, ms: number): Promise<void> {
  load.sent++
  try {
    const answer = await fetch(`${live.url}/nap?ms=${ms}`)
    const text = await answer.text()
    const attempts = answer.headers.get('plimsoll-attempts')
    if (answer.status !== 200 || text !== `${ms}` || attempts !== '1')
      load.troubles.push(`${answer.status}, ${attempts} attempts: ${text}`)
  } catch (error) {
    load.troubles.push((error as Error).message)
  }
}

/** As many workers as `target` says. */
export function steered(): Scaler & { target: number } {
  const scaler: Scaler & { target: number } = {
    name: 'steered',
    target: 1,
    everyMs: 100,
    decide({ ready, booting }) {
      const reason = { code: ready + booting < scaler.target ? 'test-grows' : 'test-shrinks' }
      return ready + booting === scaler.target
        ? { kind: 'hold', reason }
        : { kind: 'scale', to: scaler.target, reason }
    },
    save: () => null,
    load: () => {},
  }
  return scaler
}

/** One worker for every two jobs present, now or within the last `holdMs`. */
export function perTwoJobs(jobs: () => number, min: number, max: number, holdMs: number): Scaler {
  const seen: { at: number; jobs: number }[] = []
  return {
    name: 'per-two-jobs',
    everyMs: 200,
    decide({ ready, booting }, now) {
      seen.push({ at: now, jobs: jobs() })
      while (seen[0]!.at < now - holdMs) seen.shift()
      const present = Math.max(...seen.map((one) => one.jobs))
      const to = Math.min(max, Math.max(min, Math.ceil(present / 2)))
      const reason = { code: 'per-two-jobs', jobs: present, to }
      return to === ready + booting ? { kind: 'hold', reason } : { kind: 'scale', to, reason }
    },
    save: () => null,
    load: () => {},
  }
}

export interface Rise {
  load: Load
  steps: ClusterState['steps']
  /** Most workers that were ready at the same time. */
  most: number
  /** Worker processes that were there when the fleet was small again, and after the end. */
  processes: { small: number; after: number }
}

/** Naps of 400 ms: one every half second, then ten times as many for `riseMs` or until all workers are up, then as before. */
export async function riseAndFall(max: number, riseMs: number): Promise<Rise> {
  let live: Live | undefined
  const jobs = () => live?.state().jobs ?? 0
  const scaler = perTwoJobs(jobs, 1, max, 1500)
  live = await startLive({ files: [naps], min: 1, max, slots: 8, queue: 1000, scaler })
  const load: Load = { sent: 0, troubles: [] }
  let everyMs = 500
  let most = 0
  let over = false
  const open = new Set<Promise<void>>()
  const driving = (async () => {
    while (!over) {
      const one = nap(live, load, 400).finally(() => open.delete(one))
      open.add(one)
      most = Math.max(most, live.state().ready)
      await wait(everyMs)
    }
  })()
  try {
    await wait(1500)
    everyMs = 50
    const began = performance.now()
    // Twelve naps at a time need the whole fleet, so it is sure to come up.
    const extra = () => {
      while (!over && everyMs === 50 && open.size < 2 * max) {
        const one = nap(live, load, 400).finally(() => open.delete(one))
        open.add(one)
      }
    }
    const topping = setInterval(extra, 20)
    try {
      await until('all workers are up', () => live.state().ready === max, patienceMs)
      most = max
      await wait(Math.max(0, riseMs - (performance.now() - began)))
    } finally {
      clearInterval(topping)
    }
    everyMs = 500
    const isSmall = () => {
      const { ready, booting, draining } = live.state()
      return ready === 1 && booting.length === 0 && draining === 0
    }
    await until('one worker is left', isSmall, patienceMs)
    await until('one process is left', () => workersOf(process.pid).length <= 1, patienceMs)
    const small = workersOf(process.pid).length
    over = true
    await driving
    await Promise.all(open)
    const { steps } = live.state()
    await stopLive(live)
    return { load, steps, most, processes: { small, after: workersOf(process.pid).length } }
  } finally {
    over = true
    await stopLive(live)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '30' }, max: { type: 'string', default: '6' } },
  })
  const { load, steps, most, processes } = await riseAndFall(
    Number(values.max),
    Number(values.seconds) * 1000,
  )
  const first = steps[0]!.at
  for (const step of steps) {
    const after = `${((step.at - first) / 1000).toFixed(1)} s`
    console.log(`${after.padStart(8)}  ${sizeText(step).padEnd(32)}  ${step.text}`)
  }
  console.log(
    `${load.sent} requests, ${load.troubles.length} not answered right at the first attempt; ${most} workers at most; ` +
      `${processes.small} worker process when the load had fallen, ${processes.after} at the end`,
  )
  if (load.troubles.length > 0) console.log(load.troubles.slice(0, 10).join('\n'))
}

if (import.meta.main) await main()
