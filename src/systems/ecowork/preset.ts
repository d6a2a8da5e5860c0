/** EcoWork@Cloud: least estimated work, functions for small requests while the fleet grows, and steps of a tenth by CPU. */

import type { PresetMaker } from '../preset.ts'

export const ecowork: PresetMaker = ({ ms, work }) => {
  /** From calibration: see docs/systems/ecowork.md. */
  const [mostWork, mostJobs] = [work(60_000_000_000), 10]
  const beatMs = Math.min(1000, ms(15_000))
  return {
    description:
      'EcoWork@Cloud: least estimated work, small requests to functions while the fleet grows; CPU steps.',
    about: [
      'From "EcoWork@Cloud", a report of a course on cloud computing and virtualization.',
      'A request goes to the worker with the least work. While workers are being launched, a worker takes it only within',
      'limits of work and requests; what fits nowhere goes to a function, up to a fifth of that limit, or is queued.',
      'Every minute a tenth of the fleet is added above 85 % mean CPU, or removed below 15 %.',
      'Its authors found the work of all three workloads linear in one number each, so that two points suffice.',
    ],
    scheduler: 'least-work-guarded',
    placing: { mostWork, mostJobs, againMs: ms(1000) },
    discipline: 'sharing',
    scale: { policy: 'cpu-step', min: 1, max: 20, everyMs: ms(60_000), checkMs: ms(1000) },
    limits: {
      beatMs,
      missedBeats: Math.ceil(3000 / beatMs),
      attempts: 1_000_000,
      losses: 20,
      // Divided times do not make machines faster, so that these have minimums.
      answers: { factor: 4, leastMs: Math.max(10_000, ms(60_000)), heartbeatMs: Math.max(3000, ms(3000)) },
    },
    meter: { mode: 'work', formula: { instructions: 1, fieldLoads: 1, stores: 1 } },
    estimator: { rule: 'slopes', writeEveryMs: ms(15_000) },
    overflow: {
      ...{ concurrency: 8, rule: 'small', mostWork: mostWork / 5, everyMs: ms(1000) },
      ...{ afterFailure: true, errorsReturn: true },
    },
    unmeteredAway: ['compress'],
    workloads: ['foxes-rabbits', 'insect-war', 'compress'],
    trial: { timeScale: 30, workScale: 20 },
    machine: { workPerSecond: 6_000_000_000, cores: 1, bootMs: 60_000 },
  }
}
