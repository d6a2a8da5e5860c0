/**
 * Do kept jobs end when they were said to? Each is given an interval that is to hold 90 % of them. Counts jobs that end
 * within it: simulated at three loads, and with a real cluster that starts without any experience.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { interruptible } from '../src/cli/terminal/interrupt.ts'
import { table } from '../src/cli/terminal/table.ts'
import { calibrate } from './cold/jobs.ts'
import type { Coverage } from './eta/coverage.ts'
import { liveCoverage } from './eta/live.ts'
import { coverageOf, distributions } from './eta/simulated.ts'
import type { BenchOptions } from './options.ts'

const loads = [0.5, 0.8, 0.95]
const sigmas = [0, 0.5]
const jobs = 1_000
const liveLoad = 0.5

export async function eta({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const rows: string[][] = []
  const parts: number[] = []
  const halfway: number[] = []
  const add = (name: string[], coverage: Coverage, of = parts) => {
    of.push(coverage.part)
    rows.push([...name, `${coverage.jobs}`, ...shares(coverage), coverage.width.toFixed(1)])
  }
  for (const sizes of Object.keys(distributions) as (keyof typeof distributions)[])
    for (const load of loads)
      for (const sigma of sigmas) {
        const coverages = coverageOf({ sizes, load, sigma, jobs })
        const figures = [`${load}`, `${sigma}`]
        add([`simulated, ${sizes}`, ...figures], coverages.accepted)
        add([`  halfway`, ...figures], coverages.halfway, halfway)
      }
  const simulated = [...parts]
  const live = await liveRun(quick ? 200 : jobs)
  add(['live, ready workloads', `${liveLoad}`, '–'], live)
  console.log(table(['', 'load', 'σ of estimates', 'jobs', 'inside %', 'before %', 'after %', 'width'], rows))
  console.log(
    '\nAll runs begin with a cluster that has learned nothing. Inside: ended within the interval that the job was given when' +
      '\nit was accepted, or that it had after the half of its predicted work. Width: latest end ÷ earliest end, of the median' +
      '\njob. Simulated: two workers of two cores.\n',
  )
  return {
    jobs,
    simulated_least: percent(Math.min(...simulated)),
    simulated_most: percent(Math.max(...simulated)),
    halfway_least: percent(Math.min(...halfway)),
    halfway_most: percent(Math.max(...halfway)),
    live_jobs: live.jobs,
    live: percent(live.part),
  }
}

async function liveRun(most: number): Promise<Coverage> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-eta-'))
  let coverage: Coverage | undefined
  const code = await interruptible(async (signal) => {
    const calibration = await calibrate(folder, signal)
    coverage = await liveCoverage({ load: liveLoad, jobs: most, seconds: 600 }, calibration, signal)
    return 0
  })
  rmSync(folder, { recursive: true, force: true })
  if (code !== 0) process.exit(code)
  return coverage!
}

function shares({ jobs: all, inside, early, late }: Coverage): string[] {
  return [inside, early, late].map((count) => percent(count / all).toFixed(1))
}

function percent(part: number): number {
  return Math.round(part * 1000) / 10
}
