/** The simulator on the same jobs: arrival times, sizes and estimates are those of the live run. */
import type { Job } from '../../src/model/job.ts'
import { rank } from '../../src/simulate/clock.ts'
import { unitsPerSecond } from '../../src/simulate/simulate.ts'
import { World } from '../../src/simulate/world.ts'
import { type PresetName, presets } from '../../src/systems/presets.ts'
import { workerCount } from './setting.ts'

export interface SimulatedJob {
  atMs: number
  sizeMs: number
  /** The estimate and its interval, as multiples of the metered work. */
  estimate: Pick<Job, 'work'> & { low?: number | undefined; high?: number | undefined }
  /** As the brain received it. */
  unproven?: Job['unproven'] | undefined
  preemptible?: boolean | undefined
}

/** The default of `plimsoll up`. */
const slots = 17
const queue = 10_000

export interface Simulation {
  /** The share of the cores that is left for jobs. */
  speed?: number
  preset?: PresetName
}

/** Response times. */
export function simulated(
  jobs: readonly SimulatedJob[],
  { speed = 1, preset = 'plimsoll' }: Simulation = {},
): number[] {
  const { scheduler, discipline } = presets[preset]({ ms: (ms) => ms, work: (units) => units })
  const responses = new Array<number>(jobs.length).fill(Number.NaN)
  let left = jobs.length
  const world = new World({
    brain: {
      scheduler,
      discipline,
      scale: { min: workerCount, max: workerCount },
      epoch: 1,
      seed: 1,
      limits: { queue },
    },
    seed: 1,
    fleet: { cores: 1, workPerSecond: unitsPerSecond * speed, memoryMb: 1_000_000, slots, bootMs: 0 },
    answered(truth, _, now) {
      responses[Number(truth.job.id)] = now - truth.arrivedAt
      left--
    },
  })
  world.begin()
  for (const [i, { atMs, sizeMs, estimate, unproven, preemptible }] of jobs.entries()) {
    const size = Math.max(1, Math.round((sizeMs * unitsPerSecond) / 1000))
    const units = (times: number) => Math.max(1, Math.round(times * size))
    const job: Job = {
      id: `${i}`,
      workload: 'live',
      work: units(estimate.work),
      ...(estimate.low !== undefined && { low: units(estimate.low) }),
      ...(estimate.high !== undefined && { high: units(estimate.high) }),
      memoryMb: 0,
      ...(unproven && { unproven }),
      ...(preemptible === false && { preemptible }),
    }
    world.clock.at(atMs, rank.arrival, () => world.submit(job, size))
  }
  while (left > 0 && world.clock.step()) {
    // Each step hands the brain one event; all work happens there.
  }
  return responses
}
