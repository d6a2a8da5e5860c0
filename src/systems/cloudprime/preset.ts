/** CloudPrime: three classes of requests, limits for each on a worker, and a new worker for what fits nowhere. */

import type { PresetMaker } from '../preset.ts'

export const cloudprime: PresetMaker = ({ ms, work }) => {
  // About one minute and ten on its authors' machines.
  const [intermediate, max] = [work(161_751_155), work(1_272_110_814)]
  const pingMs = ms(30_000)
  // A process does not answer faster because times are divided, so that it gets up to 0.5 s, as far as pings allow.
  const answerMs = Math.max(ms(3_000), Math.min(500, pingMs * 0.8))
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
    placing: { classes: { intermediate, max, graceMs: ms(180_000) } },
    discipline: 'sharing',
    // All requests of one class, and short ones beside them.
    slots: 64,
    scale: { min: 2, max: 10, policy: 'on-misfit', lowCpu: { everyMs: ms(60_000) } },
    limits: {
      // Three heartbeats within the time to answer.
      beatMs: answerMs / 3,
      pings: { everyMs: pingMs, answerMs, most: 3, mostFresh: 3 },
      cpuEveryMs: ms(75_000),
      // A request is placed again until it is done, unless workers keep dying under it.
      ...{ attempts: 1_000_000, losses: 20 },
      mostSlowdown: 0,
    },
    meter: {
      mode: 'regions',
      formula: { instructions: 0.4, blocks: 0.15, fieldLoads: 0.05, stackLoads: 0.4 },
    },
    following: { metricsEvery: { blocks: work(100_400_724) } },
    estimator: { rule: 'rank-memo', max },
    workloads: ['factorize'],
    trial: { timeScale: 60, workScale: 10 },
    // Rank per second of the authors' machine, by the times of the two classes.
    machine: { workPerSecond: 2_400_000, cores: 1, bootMs: 150_000 },
  }
}
