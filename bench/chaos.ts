/**
 * Processes of a cluster are killed and frozen at random while clients send requests and hand in jobs: nothing that was
 * accepted may be lost, wrong, or computed again after it had ended.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stream } from '../src/lib/random.ts'
import { family, rssMbOf } from '../test/support/hostile/process-tree.ts'
import { startUp, type Up } from '../test/support/hostile/up.ts'
import { AsyncClients } from './chaos/async-clients.ts'
import { breakThings } from './chaos/break-things.ts'
import { SyncClients } from './chaos/sync-clients.ts'
import type { BenchOptions } from './options.ts'

/** The first part kills no fronts, so no client may see an error; the second kills everything. */
const partsOf = (quick: boolean) => (quick ? [30_000, 30_000] : [300_000, 300_000])
const settleMs = 120_000

export async function chaos({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const seed = 1
  const { next: random } = stream(seed, 'chaos')
  console.log(`seed ${seed}`)
  const flags = ['--fronts', '2', '--min', '2', '--max', '2', '--queue', '2000', '--stop-after', '2']
  const up = await startUp({ flags })
  const memory = watchMemory(up)
  const [calm, wild] = partsOf(quick)
  const sync = new SyncClients(up, 4)
  const jobs = new AsyncClients(up, 3)
  try {
    const broken = { kills: 0, freezes: 0, brainKills: 0, frontKills: 0, keeperKills: 0 }
    await breakThings(up, { forMs: calm!, fronts: false, random, broken })
    await delay(2_000)
    const before = { ...sync.counts }
    await breakThings(up, { forMs: wild!, fronts: true, random, broken })
    await sync.stop()
    await jobs.stop(settleMs)
    const recomputed = jobs.recomputed(runsIn(up))
    for (const trouble of [...sync.troubles, ...jobs.troubles].slice(0, 20)) console.log(trouble)
    const { sent, right, wrong, errors } = sync.counts
    console.log(
      `${sent} requests, ${right} answered right, ${errors} errors (${before.errors} before fronts were killed); ` +
        `${jobs.counts.accepted} jobs accepted, ${jobs.counts.completed} completed`,
    )
    return {
      requests: sent,
      answered: right + wrong,
      wrong: wrong + jobs.counts.wrong,
      lost: jobs.counts.accepted - jobs.counts.completed,
      client_errors: errors,
      client_errors_without_front_kills: before.errors,
      kills: broken.kills,
      freezes: broken.freezes,
      brain_kills: broken.brainKills,
      front_kills: broken.frontKills,
      keeper_kills: broken.keeperKills,
      async_accepted: jobs.counts.accepted,
      async_completed: jobs.counts.completed,
      async_refused: jobs.counts.refused,
      recomputed_after_finish: recomputed,
      max_rss_mb: Math.round(memory.stop()),
      main_died: up.isDead,
    }
  } finally {
    memory.stop()
    await sync.stop()
    await jobs.stop(0)
    const left = await up.stop()
    if (left.length > 0) console.log(`left running: ${left.map(({ command }) => command).join('; ')}`)
  }
}

/** When each job has started to run, in milliseconds since 1970. */
function runsIn(up: Up): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  for (const line of readFileSync(join(up.dataDir, 'logged'), 'utf8').split('\n').filter(Boolean)) {
    const [id = '', at] = line.split(' ')
    runs.set(id, [...(runs.get(id) ?? []), Number(at)])
  }
  return runs
}

/** The largest memory of all processes together. */
function watchMemory(up: Up): { stop(): number } {
  let most = 0
  const timer = setInterval(() => {
    const mb = family(up.pid).reduce((sum, { pid }) => sum + rssMbOf(pid), 0)
    most = Math.max(most, mb)
  }, 1_000)
  return {
    stop() {
      clearInterval(timer)
      return most
    },
  }
}
