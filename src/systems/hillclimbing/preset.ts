/** HillClimbing@Cloud: least estimated work up to a limit, and a fleet sized by the mean work. */

import { chosen } from '../constants.ts'
import type { PresetMaker } from '../preset.ts'
import { usualEveryMs } from './average-work.ts'
import { cappedDefaults } from './least-work-capped.ts'

/** Its authors metered the solver and its parameters, not the server or the drawing of the answer. */
export const solver = [
  ...['bfs', 'dfs', 'astar', 'queue', 'moves', 'search', 'place'].map((module) => `hillclimb/${module}`),
]

/** Its authors measured 498,081,995 units and 6 min 32 s for a breadth-first search of the largest map. */
export const hillclimbingConstants = {
  /** The work of the largest search: MAX_WORKLOAD. */
  mostWork: cappedDefaults.mostWork,
  /** The work of about 10 s. */
  progressEvery: 12_000_000,
  /** The estimate for a request if nothing is known. */
  unknown: 200_000_000,
}

export const hillclimbing: PresetMaker = ({ ms, work, constants }) => {
  const measured = chosen(hillclimbingConstants, constants)
  const mostWork = work(measured.mostWork)
  const beatMs = Math.min(1000, ms(15_000))
  return {
    description:
      'HillClimbing@Cloud: least estimated work, at most 500 million a worker; sized by average work.',
    about: [
      'From "HillClimbing@Cloud", a report of a course on cloud computing and virtualization.',
      'A request goes to the worker with the least outstanding work; a busy worker takes no more than 500 million units.',
      'A request that fits nowhere has a worker launched for it. The fleet grows by one above 70 % of that limit on',
      'average, and shrinks by one below 30 %. Workers report the work that they have done while they run.',
      'Its authors counted instructions by routine: as accurate as by basic block, at 4 % overhead instead of 18 %.',
    ],
    scheduler: 'least-work-capped',
    placing: { mostWork, againMs: ms(cappedDefaults.againMs), keepAfterMs: ms(cappedDefaults.keepAfterMs) },
    discipline: 'sharing',
    scale: { policy: 'average-work', min: 0, max: 10, everyMs: ms(usualEveryMs), mostWork },
    limits: {
      beatMs,
      missedBeats: Math.ceil(3000 / beatMs),
      // A request is retried until it is done, unless workers keep dying under it.
      attempts: 1_000_000,
      losses: 20,
    },
    meter: { mode: 'routines', formula: { instructions: 1 }, only: { hillclimb: solver } },
    following: { progressEvery: work(measured.progressEvery), fromStart: true },
    estimator: { rule: 'similar-requests', unknown: work(measured.unknown) },
    workloads: ['hillclimb'],
    trial: { timeScale: 30, workScale: 0.3 },
    machine: { workPerSecond: 1_270_000, cores: 1, bootMs: 60_000 },
  }
}
