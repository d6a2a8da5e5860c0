/** How many jobs end inside the interval of their end that is given when they are accepted: simulated, and with kept jobs of a live cluster. */

import { liveInside } from './eta/live.ts'
import { insideOf, traffic } from './eta/simulated.ts'
import type { BenchOptions } from './options.ts'

const loads = [0.5, 0.8, 0.95]
/** Errors of estimates, as the sigma of a lognormal factor. */
const sigmas = [0, 0.5]

const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`

export async function eta({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const report: Record<string, number> = {}
  const seeds = quick ? 2 : 6
  console.log(
    'simulated, two workers with two cores; inside: by the quote alone → as given; median of high ÷ low',
  )
  for (const sizes of Object.keys(traffic)) {
    for (const sigma of sigmas) {
      const cells = loads.map((load) => {
        const runs = Array.from({ length: seeds }, (_, index) =>
          insideOf({ sizes, load, sigma, seed: index + 1, jobs: 1_000, warmup: 500 }),
        )
        const sum = (figure: 'jobs' | 'quoted' | 'given') => runs.reduce((all, run) => all + run[figure], 0)
        const widths = runs.flatMap((run) => run.widths).sort((a, b) => a - b)
        const width = Math.exp(widths[widths.length >> 1]!)
        report[`simulated_${sizes}_sigma_${sigma}_load_${load}`] = sum('given') / sum('jobs')
        return `${load}: ${percent(sum('quoted'), sum('jobs'))} → ${percent(sum('given'), sum('jobs'))} (× ${width.toFixed(1)})`
      })
      console.log(`${sizes.padEnd(12)} σ ${String(sigma).padEnd(4)} ${cells.join('   ')}`)
    }
  }
  console.log('live, one worker with two cores, kept jobs of 100 ms on average')
  for (const load of loads) {
    const { jobs, inside, early, late } = await liveInside({ load, jobs: quick ? 200 : 1_000, warmup: 200 })
    report[`live_load_${load}`] = inside / jobs
    console.log(`${load}: ${percent(inside, jobs)} of ${jobs} inside, ${early} earlier, ${late} later`)
  }
  return report
}
