/**
 * A live fleet that grows and shrinks: the load rises tenfold and falls back, and every step is printed.
 * `npm run check:scaling` runs it, and drains 20 workers of a busy fleet; scaling.test.ts does less of both.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ClusterOptions, ClusterState } from '../../src/live/cluster.ts'
import { sizeText } from '../../src/story/fleet-story.ts'
import { type Load, nap, naps, patienceMs, perTwoJobs } from '../support/fleet-load.ts'
import { type Live, startLive, stopLive } from '../support/live.ts'
import { until, workersOf } from '../support/processes.ts'
import { scaleIns } from '../support/scale-ins.ts'

export interface Rise {
  load: Load
  steps: ClusterState['steps']
  /** The maximum number of ready workers. */
  most: number
  /** The number of worker processes after the fleet has shrunk, and after the run. */
  processes: { small: number; after: number }
}

/**
 * Naps of 400 ms: two per second, then twenty until `riseMs` have passed and all workers are ready, then two again. Six
 * workers cannot serve twenty per second, so the fleet grows to its maximum. `sizing`: the scaler; default: one worker
 * for every two jobs.
 */
export async function riseAndFall(
  max: number,
  riseMs: number,
  sizing?: Pick<ClusterOptions, 'scale' | 'scaler'>,
): Promise<Rise> {
  let live: Live | undefined
  const jobs = () => live?.state().jobs ?? 0
  const scaled = sizing ?? { scaler: perTwoJobs(jobs, 1, max, 1500) }
  live = await startLive({ files: [naps], min: 1, max, slots: 8, queue: 1000, ...scaled })
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
    await until('all workers are up', () => live.state().ready === max, patienceMs)
    most = max
    await wait(Math.max(0, riseMs - (performance.now() - began)))
    everyMs = 500
    const isSmall = () => {
      const { ready, booting, draining } = live.state()
      return ready === 1 && booting.length === 0 && draining === 0
    }
    await until('one worker is left', isSmall, patienceMs)
    over = true
    await driving
    await Promise.all(open)
    // On a slow machine, even the low load at the end may make the fleet grow once more.
    const isOne = () => isSmall() && workersOf(process.pid).length <= 1
    await until('one worker is left for good', isOne, patienceMs)
    const { steps } = live.state()
    const small = workersOf(process.pid).length
    await stopLive(live)
    return { load, steps, most, processes: { small, after: workersOf(process.pid).length } }
  } finally {
    over = true
    await stopLive(live)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '30' },
      max: { type: 'string', default: '6' },
      'scale-ins': { type: 'string', default: '20' },
    },
  })
  const max = Number(values.max)
  const { load, steps, most, processes } = await riseAndFall(max, Number(values.seconds) * 1000, {
    scale: { policy: 'work-forecast' },
  })
  const first = steps[0]!.at
  for (const step of steps) {
    const after = `${((step.at - first) / 1000).toFixed(1)} s`
    console.log(`${after.padStart(8)}  ${sizeText(step).padEnd(32)}  ${step.text}`)
  }
  console.log(
    `${told(load)}; at most ${most} workers; ` +
      `${processes.small} worker process after the load had fallen, ${processes.after} at the end`,
  )
  const ins = await scaleIns(Number(values['scale-ins']), max)
  console.log(
    `${ins.taken} workers drained under load, ${ins.busy} of them with jobs: ${told(ins.load)}; ` +
      `${ins.late} jobs sent to a draining worker; ${ins.lost} workers lost`,
  )
  const good = load.troubles.length + ins.load.troubles.length + ins.late + ins.lost + processes.after === 0
  console.log(good && most === max && processes.small === 1 ? '1 passed, 0 failed' : '0 passed, 1 failed')
  if (!good || most !== max || processes.small !== 1) process.exitCode = 1
}

function told({ sent, troubles }: Load): string {
  const some = troubles.length > 0 ? ` (${troubles.slice(0, 5).join('; ')})` : ''
  return `${sent} requests, ${troubles.length} not answered correctly at the first attempt${some}`
}

if (import.meta.main) await main()
