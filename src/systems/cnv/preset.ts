/** CNV: classes by cost, workers with a capacity, packed or spread, and functions for light requests. */

import { chosen } from '../constants.ts'
import { type PresetMaker, pongMs } from '../preset.ts'
import { cnvConstants } from './cell.ts'
import { usualEveryMs } from './cpu-ema.ts'

/**
 * The cost of a request is the sum of its instructions and memory accesses, divided by this. With it the usual requests
 * of the three workloads are of all four classes, and a worker at capacity has both cores busy; with a smaller divisor
 * full workers look idle, and the fleet does not grow. docs/systems/cnv.md has the figures.
 */
export const workPerCost = 4_000_000

/** The capacity of a worker, and the largest cost of each class. */
export const capacity = 16_000
export const classBounds = { LIGHT: 4_000, MEDIUM: 8_000, HEAVY: 16_000 } as const

/** The classes that its authors instrument: the fractal, the matcher of DNA, and the renderer of its page. */
export const classes = {
  julia: ['julia'],
  dna: ['dna/search', 'dna/align', 'dna/bases', 'dna/page'],
} as const

export const quantities = [
  { name: 'instCount', header: 'x-cnv-instcount', metrics: ['instructions'] },
  { name: 'totalAccesses', header: 'x-cnv-totalaccesses', metrics: ['fieldLoads', 'stores', 'allocations'] },
] as const

const healthMs = 15_000
const freshFailures = 16
/** The least boot time allowed, because divided times do not make a process start faster. */
const leastBootMs = 30_000
/** The longest interval between heartbeats. */
const beatMs = 1000

export const cnv: PresetMaker = ({ ms, work, constants }) => {
  const { cellInstructions, cellAccesses } = chosen(cnvConstants, constants)
  const workOf = (cost: number) => work(cost * workPerCost)
  return {
    description:
      'Light requests may overflow to functions; workers have a capacity, packed while idle, spread while busy.',
    about: [
      'After the README of a student project of the course Cloud Computing and Virtualization (CNV) at Instituto Superior',
      'Técnico, Lisbon: fractals, DNA and Gray-Scott on one to three workers of AWS, with Lambda for what overflows.',
      'Instructions and memory accesses of each request are estimated, and make it LIGHT, MEDIUM, HEAVY or SUPER_HEAVY.',
      'Workers have a capacity of 16,000. What exceeds it is queued by class, at most 5 min an attempt; LIGHT requests go',
      'to a function instead. Each minute the smoothed CPU decides: 1 or 2 workers more above 85 %, one fewer below 20 %.',
      'Its authors count Gray-Scott by a formula, because counters in its loops cost too much; its constants are profiled.',
    ],
    scheduler: 'pack-spread',
    placing: {
      mostWork: workOf(capacity),
      workClasses: [
        ...Object.entries(classBounds).map(([name, cost]) => ({ name, mostWork: workOf(cost) })),
        { name: 'SUPER_HEAVY', mostWork: null },
      ],
    },
    discipline: 'sharing',
    scale: { min: 1, max: 3, policy: 'cpu-ema', everyMs: ms(usualEveryMs), workerWork: workOf(capacity) },
    limits: {
      ...{ retries: 3, waitMs: ms(300_000) },
      // Only `retries` bounds the attempts, however they end.
      ...{ attempts: 1000, crashes: 1000, losses: 1000 },
      beatMs: Math.min(beatMs, ms(healthMs) / 4),
      pings: {
        everyMs: ms(healthMs),
        answerMs: pongMs({ ms }, ms(healthMs)),
        most: 3,
        mostFresh: freshFailures,
      },
      // Divided times do not make machines faster.
      answers: { factor: 10, leastMs: Math.max(30_000, ms(300_000)), excludes: true },
      bootMs: Math.max(leastBootMs, ms(freshFailures * healthMs)),
    },
    meter: {
      mode: 'regions',
      // Work is the sum of both quantities.
      formula: { instructions: 1, fieldLoads: 1, stores: 1, allocations: 1 },
      steps: { grayscott: { instructions: cellInstructions, fieldLoads: cellAccesses } },
      only: classes,
      quantities,
    },
    estimator: {
      rule: 'log-polynomial',
      quantities: quantities.map(({ name }) => name),
      cell: { instCount: cellInstructions, totalAccesses: cellAccesses },
    },
    overflow: {
      ...{ rule: 'small', mostWork: workOf(classBounds.LIGHT), when: 'arrival' },
      retries: { most: 3, backoffMs: ms(750) },
      ...{ concurrency: 4, memoryMb: 512, perWorkload: true },
    },
    lambdaFunctions: { julia: 'cnv-fractals', dna: 'cnv-dna', grayscott: 'cnv-grayscott' },
    componentLog: 'cnv',
    workloads: ['julia', 'dna', 'grayscott'],
    trial: { timeScale: 15, workScale: 10 },
    machine: { workPerSecond: 5_000_000_000, cores: 2, bootMs: 60_000 },
  }
}
