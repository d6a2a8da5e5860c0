/** HillClimbing@Cloud: least estimated work up to a bound, and a fleet sized by the average of it. */

import type { PresetMaker } from '../preset.ts'

export const hillclimbing: PresetMaker = ({ ms, work }) => {
  /** A breadth-first search of the largest map took its authors 498,081,995 units and 6 min 32 s. */
  const mostWork = work(500_000_000)
  const beatMs = Math.min(1000, ms(15_000))
  return {
    description:
      'HillClimbing@Cloud: least estimated work, at most 500 million a worker; sized by average work.',
    about: [
      'From "HillClimbing@Cloud", a report of a course on cloud computing and virtualization.',
      'A request goes to the worker with the least outstanding work; one that already runs something gets no more than',
      '500 million units. What fits nowhere has a worker launched for it. The fleet grows by one where workers have more',
      'than 70 % of that on average, and shrinks by one below 30 %. Workers tell what they have done as they go.',
      'Its authors counted instructions by routine: as accurate as by basic block, at 4 % overhead in place of 18 %.',
    ],
    scheduler: 'least-work-capped',
    placing: { mostWork, againMs: ms(10_000), keepAfterMs: ms(60_000) },
    discipline: 'sharing',
    scale: { policy: 'average-work', min: 0, max: 10, everyMs: ms(60_000), mostWork },
    limits: {
      beatMs,
      missedBeats: Math.ceil(3000 / beatMs),
      // It is held and sent again until it is done, unless it is what takes workers down.
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
