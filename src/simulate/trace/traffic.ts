/**
 * Traffic for a simulated fleet, made from a trace: all of its jobs or a share of them, at the recorded pace or scaled
 * to a given load.
 */

import { ConfigError } from '../../lib/errors.ts'
import type { Random } from '../../lib/random.ts'
import type { Arrivals } from '../arrivals.ts'
import type { RunSpec } from '../simulate.ts'
import type { Sizes } from '../sizes.ts'
import type { RecordedCounts, RecordedJobs, Trace } from './trace.ts'

export interface TrafficOptions {
  /** The cores of the whole fleet. */
  cores: number
  /** The target mean load of the cores. Undefined: the trace keeps its recorded pace. */
  load?: number | undefined
  /** The share of recorded requests that is kept, drawn from the seed. Default 1. */
  thin?: number | undefined
  /** Replaces the recorded sizes; required if the trace has none. */
  sizes?: Sizes | undefined
  /** The maximum number of jobs, from the start. */
  jobs?: number | undefined
  /** True: recorded estimates are ignored. */
  forget?: boolean | undefined
}

export interface Traffic {
  /** The number of jobs; the expected number if jobs are drawn. */
  jobs: number
  /** Their mean load. */
  load: number
  /** The factor of recorded times. */
  stretch: number
  /** The factor of recorded counts. */
  scale: number
  /** For a single run: arrivals and sizes yield each job once, in order. */
  run(): Pick<RunSpec, 'jobs' | 'arrivals' | 'sizes' | 'known'>
}

export function trafficOf(trace: Trace, options: TrafficOptions): Traffic {
  const { recorded } = trace
  if (recorded.kind === 'jobs') return ofJobs(trace, recorded, options)
  if (!options.sizes)
    throw new ConfigError(
      `${trace.name}: holds counts without sizes (${trace.format}), so sizes must be given`,
    )
  return ofCounts(trace, recorded, options, options.sizes)
}

/** A load is reached by stretching time, which keeps the order of jobs and the proportions of their gaps. */
function ofJobs(trace: Trace, recorded: RecordedJobs, options: TrafficOptions): Traffic {
  const { cores, load, thin = 1, sizes, jobs = Infinity, forget = false } = options
  const rows = Math.min(recorded.atMs.length, Math.ceil(jobs / thin))
  const { atMs, seconds, known } = recorded
  // Between 0 and -0 the difference is -0, and the load would be negative.
  const spanMs = Math.max(0, atMs[rows - 1]! - atMs[0]!)
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

/** A load is reached by scaling counts, so that a day stays a day; or by stretching time, if the share kept is given. */
function ofCounts(trace: Trace, recorded: RecordedCounts, options: TrafficOptions, sizes: Sizes): Traffic {
  const { cores, load, thin, jobs = Infinity } = options
  const { counts, stretchMs } = recorded
  const total = sum(counts)
  // The mean over recorded minutes only: gaps between them would lower it.
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
      // The first of `left` independent uniform draws from the rest of the minute.
      at += (atMs[minute]! + stretchMs - at) * (1 - (1 - random.next()) ** (1 / left--))
      return (at - trace.beginsMs) * stretch
    },
  }
}

/** Each of `count` requests becomes `scale` requests on average: whole copies, and one more with the probability of the fraction. */
function share(count: number, scale: number, random: Random): number {
  const copies = Math.floor(scale)
  const chance = scale - copies
  let kept = copies * count
  if (chance === 0) return kept
  // Skips from one kept request to the next, so that draws grow with kept requests, not with recorded ones.
  const skip = () => Math.floor(Math.log(1 - random.next()) / Math.log(1 - chance))
  for (let at = skip(); at < count; at += 1 + skip()) kept++
  return kept
}

/** The factor of recorded times. */
function stretchFor(trace: Trace, loadAsRecorded: number, load: number | undefined): number {
  if (load === undefined) return 1
  if (loadAsRecorded > 0 && loadAsRecorded < Infinity) return loadAsRecorded / load
  throw new ConfigError(
    `--load = ${load}: cannot be reached, because the jobs of ${trace.name} all arrive at one instant or need no work`,
  )
}

function sum(values: Float64Array): number {
  let total = 0
  for (let i = 0; i < values.length; i++) total += values[i]!
  return total
}
