/** HillClimbing's experiments: nine searches, the largest search, and the work of ten seconds. */

import { type Experiment, rounded } from './experiment.ts'
import type { Asked, Lab, Measured } from './lab.ts'

const strategies = ['BFS', 'DFS', 'ASTAR'] as const
/** The last one is that of the document's largest map. */
const sides = [256, 512, 1024] as const
const largestSide = sides[2]
const repeats = { quick: 1, full: 5 }
const progressMs = 10_000

const search = (side: number, more: Record<string, string | number>): Asked => ({
  workload: 'hillclimb',
  params: { width: side, height: side, output: 'json', ...more },
})

export const hillclimbing: Experiment = {
  steps: (quick) => (quick ? repeats.quick : repeats.full) * 9 + 4,
  async run(lab, { quick, step }) {
    const nine = await nineSearches(lab, quick ? repeats.quick : repeats.full, step)
    const corners = await cornerSearches(lab, step)
    const all = nine.flatMap(({ runs }) => runs.map(([, measured]) => measured))
    const [work, cpuMs] = [sumOf(all, 'work'), sumOf(all, 'cpuMs')]
    const largest = Math.max(...[...all, ...corners].map((each) => each.work))
    return {
      findings: [
        {
          constant: 'mostWork',
          value: rounded(largest),
          how: `the largest of nine searches and of four breadth-first searches from the corners of a map of ${largestSide}²`,
        },
        {
          constant: 'progressEvery',
          value: rounded((work / cpuMs) * progressMs),
          how: `work of 10 s of CPU: ${Math.round(work)} units in ${Math.round(cpuMs)} ms`,
        },
        {
          constant: 'unknown',
          value: rounded(work / all.length),
          how: `mean of nine searches (3 strategies × ${sides.map((side) => `${side}²`).join(', ')})`,
        },
      ],
      figures: [
        {
          ...{ name: 'hillclimbing-searches', title: 'Work and CPU time of nine searches' },
          ...{ x: 'CPU time (ms)', y: 'work', log: true },
          series: nine.map(({ strategy, runs }) => ({
            label: strategy,
            points: runs
              .map(([, { work, cpuMs }]): [number, number] => [cpuMs, work])
              .toSorted(([a], [b]) => a - b),
          })),
        },
      ],
    }
  },
}

function sumOf(all: readonly Measured[], what: 'work' | 'cpuMs'): number {
  return all.reduce((sum, each) => sum + each[what], 0)
}

async function nineSearches(lab: Lab, times: number, step: (what: string) => void) {
  const found: { strategy: string; runs: [side: number, measured: Measured][] }[] = []
  for (const strategy of strategies) {
    const runs: [number, Measured][] = []
    for (const side of sides) {
      for (let time = 0; time < times; time++) {
        step(`${strategy} from the middle of ${side}²`)
        runs.push([side, await lab.measure(search(side, { strategy }))])
      }
    }
    found.push({ strategy, runs })
  }
  return found
}

/** One of the corners is opposite to the highest point. */
async function cornerSearches(lab: Lab, step: (what: string) => void): Promise<Measured[]> {
  const found: Measured[] = []
  for (const xS of [0, largestSide - 1]) {
    for (const yS of [0, largestSide - 1]) {
      step(`BFS from the corner ${xS}, ${yS} of ${largestSide}²`)
      found.push(await lab.measure(search(largestSide, { strategy: 'BFS', xS, yS })))
    }
  }
  return found
}
