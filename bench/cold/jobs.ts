/** The jobs of a run: a heavy-tailed mix of the bundled workloads that arrives as a Poisson process. */
import { stream } from '../../src/lib/random.ts'
import { pareto } from '../../src/simulate/sizes.ts'
import { median } from '../../src/simulate/summary.ts'
import { type StreamName, streamNames, weighted } from '../estimate/stream.ts'
import { measureAlone } from '../live/alone.ts'
import type { LiveJob, TimedJob } from '../live/jobs.ts'
import { makers } from '../live/requests.ts'
import { workerCount } from '../live/setting.ts'

/** Part of the cores that the jobs need on warm workers. The rest is left to the system and the sender of the requests. */
export const usualLoad = 0.55
/** In milliseconds on a nominal core. The shortest 90 % end below 75 ms, and the other 10 % hold most of the work. */
const sizes = pareto(0.85, 5, 3000)

const calibrationSeed = 4000
const calibrationJobs = 12
/** Drawn sizes of the calibration: from the shortest, up to this. */
const calibrationMs = 100

/** Turns drawn sizes into times alone on a warm worker of this machine. */
export interface Calibration {
  /** Time of each workload as a multiple of the drawn size. */
  times: ReadonlyMap<StreamName, number>
  /** Metered work of each workload per millisecond of CPU time. */
  workPerMs: ReadonlyMap<StreamName, number>
  /** What a request takes besides the CPU time of its slot. */
  besidesMs: number
}

type CalibratedTimes = Pick<Calibration, 'times' | 'besidesMs'>

/** Measures a few jobs of each workload on warm workers. */
export async function calibrate(data: string, signal: AbortSignal): Promise<Calibration> {
  const random = stream(calibrationSeed, 'cold calibration')
  const drawn = streamNames.flatMap((workload) =>
    Array.from({ length: calibrationJobs }, (_, i) => {
      const ms = 10 * (calibrationMs / 10) ** (i / (calibrationJobs - 1))
      return { ms, job: { workload, ...makers[workload].make(ms, random) } as LiveJob }
    }),
  )
  const measured = await measureAlone(
    drawn.map(({ job }) => job),
    data,
    signal,
  )
  const rates = new Map<StreamName, number[]>(streamNames.map((name) => [name, []]))
  const ratios = new Map<StreamName, number[]>(streamNames.map((name) => [name, []]))
  for (const [i, { ms, job }] of drawn.entries()) {
    const { sizeMs, besidesMs, work } = measured[i]!
    rates.get(job.workload)!.push(work / (sizeMs - besidesMs))
    // Requests of the shop have no size to choose, so theirs is the time itself.
    ratios.get(job.workload)!.push((sizeMs - besidesMs) / (job.workload === 'shop' ? 1 : ms))
  }
  const times = new Map([...ratios].map(([name, all]) => [name, median(all)]))
  const workPerMs = new Map([...rates].map(([name, all]) => [name, median(all)]))
  return { times, workPerMs, besidesMs: measured[0]!.besidesMs }
}

export interface RunPlan {
  seed: number
  seconds: number
  /** Part of the cores that the jobs need. */
  load: number
}

/** A request without its parameters. */
export interface SizedArrival {
  workload: StreamName
  atMs: number
  /** Drawn. */
  ms: number
  /** Its time alone, as far as that is known when it is drawn. */
  sizeMs: number
}

/** The arrivals of the first `seconds` seconds. A longer run of the same seed begins with those of a shorter one. */
export function drawSizes(
  { seed, seconds, load }: RunPlan,
  { times, besidesMs }: CalibratedTimes,
): SizedArrival[] {
  const random = stream(seed, 'cold jobs')
  const gaps = stream(seed, 'cold arrivals')
  const meanGapMs = meanSizeMs({ times, besidesMs }) / (load * workerCount)
  const arrivals: SizedArrival[] = []
  // The first request is sent as soon as the cluster is ready.
  for (let atMs = 0; atMs < seconds * 1000; atMs += gaps.exponential() * meanGapMs) {
    const { workload, ms } = drawKind(random)
    const sizeMs = besidesMs + times.get(workload)! * (workload === 'shop' ? 1 : ms)
    arrivals.push({ workload, atMs, ms, sizeMs })
  }
  return arrivals
}

/** The requests of these arrivals. */
export function drawArrivals(plan: RunPlan, calibration: Calibration): TimedJob[] {
  const random = stream(plan.seed, 'cold requests')
  return drawSizes(plan, calibration).map(({ workload, atMs, ms, sizeMs }) => ({
    ...{ workload, ...makers[workload].make(ms, random) },
    ...{ sizeMs, atMs, counts: true },
  }))
}

function drawKind(random: ReturnType<typeof stream>): { workload: StreamName; ms: number } {
  const ms = sizes.draw(random)
  const fitting = streamNames.filter((name) => ms <= makers[name].mostMs)
  const weights = Object.fromEntries(fitting.map((name) => [name, makers[name].weight]))
  return { workload: weighted(random, weights) as StreamName, ms }
}

function meanSizeMs({ times, besidesMs }: CalibratedTimes): number {
  const random = stream(calibrationSeed, 'cold mean')
  const draws = 20_000
  let sum = 0
  for (let i = 0; i < draws; i++) {
    const { workload, ms } = drawKind(random)
    sum += besidesMs + times.get(workload)! * (workload === 'shop' ? 1 : ms)
  }
  return sum / draws
}
