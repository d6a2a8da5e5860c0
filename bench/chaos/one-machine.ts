/** One cluster with its store on a small disk: everything except its supervisor is harmed. */

import { setTimeout as delay } from 'node:timers/promises'
import { Disturbances } from '../../test/support/hostile/disturbances.ts'
import { startUp } from '../../test/support/hostile/up.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { type Counts, type Draw, doHarm, type Harm, harmsOf, targets } from './harms.ts'
import { type PartResult, stopAll, underLoad } from './part.ts'
import { fillDisk, smallDisk } from './small-disk.ts'

export interface OneMachine extends PartResult {
  fullDisks: number
  cuts: CuttingProxy['cuts']
  /** Errors of clients before connections were cut and fronts killed. */
  calmErrors: number
  mainDied: boolean
}

const everyMs = 700
const flags = ['--fronts', '2', '--min', '2', '--max', '2', '--queue', '2000', '--stop-after', '2']

/** The first half cuts no connections and kills no fronts, so no client may see an error. */
export async function oneMachine(forMs: number, draw: Draw, counts: Counts): Promise<OneMachine> {
  const through = smallDisk()
  if (!through) console.log('SKIPPED: full disk: no tmpfs can be mounted here')
  const up = await startUp({ flags, ...(through && { through }) })
  const disturbances = new Disturbances()
  const proxy = await CuttingProxy.open(
    () => up.port,
    () => disturbances.instant(),
  )
  let fullDisks = 0
  const service = {
    ...{ urls: () => [`http://127.0.0.1:${proxy.port}`], disturbances },
    isOver: () => up.isDead || up.isStopped,
  }
  const all = targets.flatMap((target) =>
    harmsOf(target, {
      ...{ up: () => up, counts },
      ...(target === 'front' && { killed: () => disturbances.instant() }),
    }),
  )
  if (through) {
    const begin: Harm['begin'] = (draws, lasting) => {
      fullDisks++
      lasting(fullFor(fillDisk(up), 1_000 + 3_000 * draws()))
      return true
    }
    all.push({ name: 'full disk', weight: 0.7, begin })
  }
  const calm = all.filter(({ name }) => name !== 'kill front')
  let calmErrors = 0
  let jobsLost = 0
  try {
    const result = await underLoad(
      service,
      () => [up],
      async (clients) => {
        await doHarm(calm, { forMs: forMs / 2, everyMs, draw, isOver: service.isOver })
        await delay(1_000)
        calmErrors = clients.counts.errors
        await doHarm([...all, cutHarm(proxy)], { forMs: forMs / 2, everyMs, draw, isOver: service.isOver })
      },
    )
    jobsLost = result.jobs.accepted - result.jobs.completed
    return { ...result, fullDisks, cuts: proxy.cuts, calmErrors, mainDied: up.isDead }
  } finally {
    proxy.close()
    await stopAll([up], jobsLost)
  }
}

async function fullFor(makeRoom: () => void, ms: number): Promise<void> {
  await delay(ms)
  makeRoom()
}

/** Requests and answers break off in the middle. */
export function cutHarm(proxy: CuttingProxy): Harm {
  return {
    name: 'cut',
    weight: 4,
    begin(draw) {
      const direction = draw() < 0.5 ? 'up' : 'down'
      proxy.cut({ direction, how: draw() < 0.5 ? 'reset' : 'end', part: draw() })
      return true
    },
  }
}
