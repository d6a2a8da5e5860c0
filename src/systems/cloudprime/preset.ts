/** CloudPrime: three classes of requests, limits for each on a worker, and a new worker for what fits nowhere. */

import { chosen } from '../constants.ts'
import { type PresetMaker, pongMs } from '../preset.ts'
import { usualClasses } from './classes.ts'
import { usualLowCpu } from './on-misfit.ts'

/** As its authors measured them: classes from one minute and from ten, metrics every 1.3 to 2 min. */
export const cloudprimeConstants = {
  intermediate: usualClasses.intermediate,
  max: usualClasses.max,
  metricsEvery: 100_400_724,
  mostIntermediate: usualClasses.mostIntermediate,
  mostMax: usualClasses.mostMax,
}

export const cloudprime: PresetMaker = ({ ms, work, constants }) => {
  const { metricsEvery, mostIntermediate, mostMax, ...bounds } = chosen(cloudprimeConstants, constants)
  const [intermediate, max] = [work(bounds.intermediate), work(bounds.max)]
  const pingMs = ms(30_000)
  return {
    description:
      'Classes of requests by rank, limits for each on a worker, a new worker for what fits nowhere.',
    about: [
      'From the report "CloudPrime" by S. Mendes, C. Faria and D. Abreu, students of a cloud computing course at',
      'Instituto Superior Técnico, Lisbon: a cluster that factorizes semiprimes.',
      'A request is ranked by what the same number took before, else by the number itself. Short requests go to the',
      'worker with the fewest; long and very long ones never share a worker and are limited on each. A request that fits',
      'nowhere starts a worker, one at a time; a worker whose CPU stays low is ended.',
      'Its authors found that rank and time always agreed, that more than 10 of the largest requests slowed down short',
      'ones beside them, and that a loaded worker answered a ping within 1003 ms on average.',
    ],
    scheduler: 'class-limits',
    placing: {
      classes: { intermediate, max, mostIntermediate, mostMax, graceMs: ms(usualClasses.graceMs) },
    },
    discipline: 'sharing',
    // All requests of one class, and short ones beside them.
    slots: 64,
    scale: { min: 2, max: 10, policy: 'on-misfit', lowCpu: { everyMs: ms(usualLowCpu.everyMs) } },
    limits: {
      beatMs: Math.min(1000, ms(15_000)),
      pings: { everyMs: pingMs, answerMs: pongMs({ ms }, pingMs), most: 3, mostFresh: 3 },
      // Ten of the largest requests, of ten minutes each, take 100 minutes beside each other on its authors' machine.
      answers: { factor: 0, leastMs: Math.max(10_000, ms(7_200_000)) },
      cpuEveryMs: ms(75_000),
      // A request is placed again until it is done, unless workers keep dying under it.
      ...{ attempts: 1_000_000, losses: 20 },
    },
    meter: {
      mode: 'regions',
      formula: { instructions: 0.4, blocks: 0.15, fieldLoads: 0.05, stackLoads: 0.4 },
    },
    following: { metricsEvery: { blocks: work(metricsEvery) } },
    estimator: { rule: 'rank-memo', max },
    workloads: ['factorize'],
    trial: { timeScale: 60, workScale: 10 },
    // Rank per second of the authors' machine, by the times of the two classes.
    machine: { workPerSecond: 2_400_000, cores: 1, bootMs: 150_000 },
  }
}
