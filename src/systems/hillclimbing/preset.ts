/** HillClimbing@Cloud: least estimated work up to a limit, and a fleet sized by the mean work. */

import type { PresetMaker } from '../preset.ts'

export const hillclimbing: PresetMaker = ({ ms, work }) => {
  /** Its authors measured 498,081,995 units and 6 min 32 s for a breadth-first search of the largest map. */
  const mostWork = work(500_000_000)
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
    placing: { mostWork, againMs: ms(10_000), keepAfterMs: ms(60_000) },
    discipline: 'sharing',
    scale: { policy: 'average-work', min: 0, max: 10, everyMs: ms(60_000), mostWork },
    limits: {
      beatMs,
      missedBeats: Math.ceil(3000 / beatMs),
      // A request is retried until it is done, unless workers keep dying under it.
      attempts: 1_000_000,
      losses: 20,
    },
    meter: { mode: 'routines', formula: { instructions: 1 } },
    following: { progressEvery: work(12_000_000), fromStart: true },
    estimator: { rule: 'similar-requests', unknown: work(200_000_000) },
    workloads: ['hillclimb'],
    trial: { timeScale: 30, workScale: 0.1 },
    machine: { workPerSecond: 1_270_000, cores: 1, bootMs: 60_000 },
  }
}
