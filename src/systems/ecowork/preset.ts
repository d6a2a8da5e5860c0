/** EcoWork@Cloud: least estimated work, functions for small requests while the fleet grows, and steps of a tenth by CPU. */

import { chosen } from '../constants.ts'
import type { PresetMaker } from '../preset.ts'
import { usualCheckMs, usualEveryMs } from './cpu-step.ts'
import { usualAgainMs } from './least-work-guarded.ts'

/** From calibration: see docs/systems/ecowork.md. The report does not give its own. */
export const ecoworkConstants = {
  /** Limits of a worker while the fleet grows. */
  mostWork: 60_000_000_000,
  mostJobs: 10,
}

export const ecowork: PresetMaker = ({ ms, work, constants }) => {
  const { mostJobs, ...measured } = chosen(ecoworkConstants, constants)
  const mostWork = work(measured.mostWork)
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
    placing: { mostWork, mostJobs, againMs: ms(usualAgainMs) },
    discipline: 'sharing',
    scale: { policy: 'cpu-step', min: 1, max: 20, everyMs: ms(usualEveryMs), checkMs: ms(usualCheckMs) },
    limits: {
      beatMs,
      // A worker is asked when an answer is late; its own reports decide nothing.
      missedBeats: 0,
      attempts: 1_000_000,
      losses: 20,
      // Divided times do not make machines faster, so that these have minimums.
      answers: {
        ...{ factor: 4, leastMs: Math.max(10_000, ms(60_000)), heartbeatMs: Math.max(3000, ms(3000)) },
        connecting: { leastMs: 1000, factor: 0.1 },
      },
    },
    meter: { mode: 'work', formula: { instructions: 1, fieldLoads: 1, stores: 1 } },
    estimator: { rule: 'slopes', writeEveryMs: ms(15_000) },
    overflow: {
      ...{ concurrency: 8, rule: 'small', mostWork: mostWork / 5 },
      ...{ afterFailure: true, errorsReturn: true },
    },
    unmeteredAway: ['compress'],
    workloads: ['foxes-rabbits', 'insect-war', 'compress'],
    trial: { timeScale: 30, workScale: 20 },
    machine: { workPerSecond: 6_000_000_000, cores: 1, bootMs: 60_000 },
  }
}
