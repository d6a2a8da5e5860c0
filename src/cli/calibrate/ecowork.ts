/** EcoWork's experiments: what the work of its workloads depends on, and how much a worker can hold. */

import { gradientBmp } from '../demo/picture.ts'
import { type Bench, type Experiment, type Figure, median, rounded, times } from './experiment.ts'
import type { Asked, Lab } from './lab.ts'

const series = [1, 2, 5, 10, 20]
/** The memory of a small machine. */
const machineMb = 1024
/** More is not done by the time that a launched worker is up. */
const workMs = 10_000

interface Sweep {
  name: string
  title: string
  x: string
  points: (quick: boolean) => readonly (readonly [x: number, asked: Asked])[]
}

const foxes = (generations: number): Asked => ({
  workload: 'foxes-rabbits',
  params: { world: 2, scenario: 2, generations },
})
const war = (rounds: number, army1: number, army2: number): Asked => ({
  workload: 'insect-war',
  params: { rounds, army1, army2 },
})
const compressed = (side: number, quality: number): Asked => ({
  workload: 'compress',
  params: { format: 'jpeg', quality },
  body: gradientBmp(side, 1),
})
const shares = (quick: boolean) => (quick ? [0.25, 0.5, 0.75, 1] : [0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1])
const sweep = (quick: boolean, most: number, ask: (x: number) => Asked) =>
  shares(quick).map((share) => [Math.round(most * share), ask(Math.round(most * share))] as const)

/** The figures of the report. */
const sweeps: readonly Sweep[] = [
  {
    ...{ name: 'ecowork-generations', title: 'Foxes and rabbits, world 2, scenario 2', x: 'generations' },
    points: (quick) => sweep(quick, quick ? 200 : 1000, foxes),
  },
  {
    ...{ name: 'ecowork-rounds', title: 'Insect war of two armies of 100', x: 'rounds' },
    points: (quick) => sweep(quick, 20, (rounds) => war(rounds, 100, 100)),
  },
  {
    ...{ name: 'ecowork-armies', title: 'Insect war of 20 rounds', x: 'total army size' },
    points: (quick) => sweep(quick, 400, (total) => war(20, total / 2, total / 2)),
  },
  {
    ...{ name: 'ecowork-ratio', title: 'Insect war of 10 rounds, 200 insects', x: 'ratio of the armies' },
    points: () =>
      [1, 2, 4, 8, 10].map((ratio) => {
        const less = Math.round(200 / (1 + ratio))
        return [ratio, war(10, 200 - less, less)] as const
      }),
  },
  {
    ...{ name: 'ecowork-pixels', title: 'Compression to JPEG of quality 0.7', x: 'pixels' },
    points: (quick) => shares(quick).map((share) => pixels(Math.round(400 * share))),
  },
  {
    ...{ name: 'ecowork-quality', title: 'Compression to JPEG of 300 × 300 pixels', x: 'compression factor' },
    points: (quick) =>
      (quick ? [0.1, 0.5, 0.9] : [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]).map(
        (quality) => [quality, compressed(300, quality)] as const,
      ),
  },
]

function pixels(side: number): readonly [number, Asked] {
  return [side ** 2, compressed(side, 0.7)]
}

export const ecowork: Experiment = {
  steps: (quick) => sweeps.reduce((sum, each) => sum + each.points(quick).length, series.length),
  async run(lab, bench) {
    const figures: Figure[] = []
    for (const { name, title, x, points } of sweeps) {
      const found: [number, number][] = []
      for (const [value, asked] of points(bench.quick)) {
        bench.step(`${title}: ${x} ${value}`)
        found.push([value, (await lab.measure(asked)).work])
      }
      figures.push({
        name,
        title,
        x,
        y: 'work',
        series: [{ label: asked0(points(bench.quick)), points: found }],
      })
    }
    const { findings, figure } = await limits(lab, bench)
    return { findings, figures: [...figures, figure] }
  },
}

const asked0 = (points: readonly (readonly [number, Asked])[]) => points[0]![1].workload

/** One worker with several equal requests at a time. */
async function limits(lab: Lab, { quick, step }: Bench) {
  const asked = foxes(quick ? 200 : 1000)
  const found: { count: number; perSecond: number; medianMs: number }[] = []
  let [work, cpuMs, memoryMb] = [0, 0, 0]
  for (const count of series) {
    step(`${count} requests at a time`)
    // Starts the processes.
    await lab.occupy(times(2 * count, foxes(quick ? 20 : 100))).ended
    const began = performance.now()
    const all = await Promise.all(Array.from({ length: count }, () => lab.measure(asked)))
    const ms = performance.now() - began
    const done = all.reduce((sum, each) => sum + each.work, 0)
    work += done
    cpuMs += all.reduce((sum, each) => sum + each.cpuMs, 0)
    memoryMb = Math.max(memoryMb, ...all.map((each) => each.peakMemoryMb))
    found.push({
      count,
      perSecond: (done / ms) * 1000,
      medianMs: median(all.map(({ responseMs }) => responseMs)),
    })
  }
  const best = found.reduce((a, b) => (b.perSecond > a.perSecond ? b : a))
  const fitting = Math.max(1, Math.floor(machineMb / memoryMb))
  const told = found.map(({ count, perSecond }) => `${count}: ${perSecond.toPrecision(2)}`).join(', ')
  const how = `work per second by the number of requests: ${told}; ${fitting} of ${Math.round(memoryMb)} MB fit into ${machineMb} MB`
  return {
    findings: [
      { constant: 'mostJobs', value: Math.min(best.count, fitting), how },
      {
        constant: 'mostWork',
        value: rounded((work / cpuMs) * workMs),
        how: `work of 10 s of CPU: ${Math.round(work)} units in ${Math.round(cpuMs)} ms`,
      },
    ],
    figure: {
      ...{ name: 'ecowork-limits', title: 'A worker with several requests', x: 'requests at a time' },
      y: 'median response time (ms)',
      series: [
        { label: 'foxes-rabbits', points: found.map(({ count, medianMs }) => [count, medianMs] as const) },
      ],
    },
  }
}
