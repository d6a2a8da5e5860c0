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
  points: (quick: boolean) => readonly Point[]
}

interface Point {
  /** The series that it belongs to. */
  of: string
  x: number
  asked: Asked
}

const formats = ['png', 'jpeg', 'bmp'] as const
type Format = (typeof formats)[number]
/** BMP has none. */
const withQuality = ['png', 'jpeg'] as const

const foxes = (generations: number): Asked => ({
  workload: 'foxes-rabbits',
  params: { world: 2, scenario: 2, generations },
})
const war = (rounds: number, army1: number, army2: number): Asked => ({
  workload: 'insect-war',
  params: { rounds, army1, army2 },
})
const compressed = (format: Format, side: number, quality: number): Asked => ({
  workload: 'compress',
  params: { format, ...(format !== 'bmp' && { quality }) },
  body: gradientBmp(side, 1),
})
const shares = (quick: boolean) => (quick ? [0.25, 0.5, 0.75, 1] : [0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1])
const sweep = (quick: boolean, most: number, ask: (x: number) => Asked): Point[] =>
  shares(quick).map((share) => {
    const x = Math.round(most * share)
    const asked = ask(x)
    return { of: asked.workload, x, asked }
  })

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
        return { of: 'insect-war', x: ratio, asked: war(10, 200 - less, less) }
      }),
  },
  {
    ...{ name: 'ecowork-pixels', title: 'Compression with quality 0.7', x: 'pixels' },
    points: (quick) =>
      formats.flatMap((of) =>
        shares(quick).map((share) => {
          const side = Math.round(400 * share)
          return { of, x: side ** 2, asked: compressed(of, side, 0.7) }
        }),
      ),
  },
  {
    ...{ name: 'ecowork-quality', title: 'Compression of 300 × 300 pixels', x: 'compression factor' },
    points: (quick) =>
      withQuality.flatMap((of) =>
        (quick ? [0.1, 0.5, 0.9] : [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]).map((x) => ({
          ...{ of, x, asked: compressed(of, 300, x) },
        })),
      ),
  },
]

export const ecowork: Experiment = {
  steps: (quick) => sweeps.reduce((sum, each) => sum + each.points(quick).length, series.length),
  async run(lab, bench) {
    const figures: Figure[] = []
    for (const { name, title, x, points } of sweeps) {
      const found = new Map<string, [number, number][]>()
      for (const { of, x: value, asked } of points(bench.quick)) {
        bench.step(`${title}, ${of}: ${x} ${value}`)
        const list = found.get(of) ?? []
        list.push([value, (await lab.measure(asked)).work])
        found.set(of, list)
      }
      const series = [...found].map(([label, list]) => ({ label, points: list }))
      figures.push({ name, title, x, y: 'work', series })
    }
    const { findings, figure } = await limits(lab, bench)
    return { findings, figures: [...figures, figure] }
  },
}

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
