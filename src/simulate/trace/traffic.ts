/**
 * Traffic for a simulated fleet, made of a trace: all of its jobs or a share of them, at its own pace or at one that
 * gives the fleet a stated load.
 */

import { ConfigError } from '../../lib/errors.ts'
import type { Random } from '../../lib/random.ts'
import type { Arrivals } from '../arrivals.ts'
import type { RunSpec } from '../simulate.ts'
import type { Sizes } from '../sizes.ts'
import type { RecordedCounts, RecordedJobs, Trace } from './trace.ts'

export interface TrafficOptions {
  /** Cores of the whole fleet. */
  cores: number
  /** The mean load that they are to have; without it, the trace keeps its own pace. */
  load?: number | undefined
  /** The share of recorded requests that is kept, drawn from the seed; 1 if not given. */
  thin?: number | undefined
  /** Drawn in place of the trace's own sizes; needed where it has none. */
  sizes?: Sizes | undefined
  /** At most so many jobs, from the beginning on. */
  jobs?: number | undefined
  /** True: what the recording system estimated is forgotten. */
  forget?: boolean | undefined
}

export interface Traffic {
  /** How many jobs there will be; where some are drawn, how many to expect. */
  jobs: number
  /** The mean load that they give. */
  load: number
  /** Recorded time is multiplied by this, */
  stretch: number
  /** and recorded counts by this. */
  scale: number
  /** For one run: both give each job once, in order. */
  run(): Pick<RunSpec, 'jobs' | 'arrivals' | 'sizes' | 'known'>
}

export function trafficOf(trace: Trace, options: TrafficOptions): Traffic {
  const { recorded } = trace
  if (recorded.kind === 'jobs') return ofJobs(trace, recorded, options)
  if (!options.sizes)
    throw new ConfigError(`${trace.name}: holds counts (${trace.format}), so sizes must come from elsewhere`)
  return ofCounts(trace, recorded, options, options.sizes)
}

/** A load is reached by stretching time: which job comes after which, and how far apart in proportion, stays. */
function ofJobs(trace: Trace, recorded: RecordedJobs, options: TrafficOptions): Traffic {
  const { cores, load, thin = 1, sizes, jobs = Infinity, forget = false } = options
  const rows = Math.min(recorded.atMs.length, Math.ceil(jobs / thin))
  const { atMs, seconds, known } = recorded
  const spanMs = atMs[rows - 1]! - atMs[0]!
  const workMs = (sizes ? sizes.meanSeconds * rows : sum(seconds.subarray(0, rows))) * 1000 * thin
  const loadAsRecorded = workMs / (spanMs * cores)
  const stretch = stretchFor(trace, loadAsRecorded, load)
  return {
    jobs: Math.min(jobs, Math.max(1, Math.round(rows * thin))),
    load: load ?? loadAsRecorded,
    stretch,
    scale: thin,
    run() {
      let row = -1
      return {
        jobs,
        arrivals: {
          name: trace.name,
          next(_, random) {
            do row++
            while (thin < 1 && row < rows && random.next() >= thin)
            return row < rows ? (atMs[row]! - trace.beginsMs) * stretch : Infinity
          },
        },
        sizes: sizes ?? {
          name: trace.name,
          meanSeconds: workMs / 1000 / (rows * thin),
          draw: () => seconds[row]!,
        },
        ...(known && !sizes && !forget && { known: () => known[row]! }),
      }
    },
  }
}

/** A load is reached by scaling the counts, so that a day stays a day; where the share kept is stated, by stretching. */
function ofCounts(trace: Trace, recorded: RecordedCounts, options: TrafficOptions, sizes: Sizes): Traffic {
  const { cores, load, thin, jobs = Infinity } = options
  const { counts, stretchMs } = recorded
  const total = sum(counts)
  // Over the minutes that were recorded: gaps between them would hide how busy those are.
  const loadAsRecorded = (total * sizes.meanSeconds * 1000) / (counts.length * stretchMs * cores)
  if (total === 0) throw new ConfigError(`${trace.name}: all counts are 0`)
  const scale = thin ?? 1 / stretchFor(trace, loadAsRecorded, load)
  const stretch = thin === undefined ? 1 : stretchFor(trace, loadAsRecorded * thin, load)
  return {
    jobs: Math.min(jobs, Math.max(1, Math.round(total * scale))),
    load: load ?? loadAsRecorded * scale,
    stretch,
    scale,
    run: () => ({
      jobs,
      sizes,
      arrivals: drawnInstants(trace, recorded, scale, stretch),
    }),
  }
}

function drawnInstants(trace: Trace, recorded: RecordedCounts, scale: number, stretch: number): Arrivals {
  const { atMs, counts, stretchMs } = recorded
  let minute = -1
  let left = 0
  let at = 0
  return {
    name: trace.name,
    next(_, random) {
      while (left === 0) {
        if (++minute >= counts.length) return Infinity
        left = share(counts[minute]!, scale, random)
        at = atMs[minute]!
      }
      // The first of so many independent instants in what is left of the minute.
      at += (atMs[minute]! + stretchMs - at) * (1 - (1 - random.next()) ** (1 / left--))
      return (at - trace.beginsMs) * stretch
    },
  }
}

/** So many copies of each of `count` requests; of what remains, each has its chance. */
function share(count: number, scale: number, random: Random): number {
  const copies = Math.floor(scale)
  const chance = scale - copies
  let kept = copies * count
  if (chance === 0) return kept
  // From one that is kept to the next: as many draws as are kept, however many there were.
  const skip = () => Math.floor(Math.log(1 - random.next()) / Math.log(1 - chance))
  for (let at = skip(); at < count; at += 1 + skip()) kept++
  return kept
}

/** What recorded time must be multiplied by. */
function stretchFor(trace: Trace, loadAsRecorded: number, load: number | undefined): number {
  if (load === undefined) return 1
  if (loadAsRecorded > 0 && loadAsRecorded < Infinity) return loadAsRecorded / load
  throw new ConfigError(
    `--load = ${load}: cannot be reached, because what is taken of ${trace.name} arrives at one instant or needs no work`,
  )
}

function sum(values: Float64Array): number {
  let total = 0
  for (let i = 0; i < values.length; i++) total += values[i]!
  return total
}
