/** Classes of requests by rank, and the limits for each class on a worker: the options of `class-limits`. */

import type { WorkerRecord } from '../../brain/state.ts'
import { ConfigError } from '../../lib/errors.ts'

export type JobClass = 'short' | 'intermediate' | 'max'

/** Ranks are work as the meter's formula counts it. */
export interface ClassLimits {
  /** The smallest rank of each class. */
  intermediate: number
  max: number
  /** The most requests of a class on one worker. The two classes never share a worker. */
  mostIntermediate: number
  mostMax: number
  /** A worker whose CPU is above this share takes short requests only. */
  highCpu: number
  /** How long a request that fits nowhere waits: for the worker that it started, or to be placed again. */
  graceMs: number
  /** When this many requests wait to be placed again, the next one starts another worker. */
  mostQueued: number
}

/** As in the CloudPrime report, tuned by hand on one kind of machine: about one minute and ten of its time. */
export const usualClasses: Readonly<ClassLimits> = {
  intermediate: 161_751_155,
  max: 1_272_110_814,
  mostIntermediate: 20,
  mostMax: 10,
  highCpu: 0.75,
  graceMs: 180_000,
  mostQueued: 20,
}

/** Rejects invalid limits by name. */
export function classLimitsOf(given: Partial<ClassLimits> = {}): ClassLimits {
  const limits = { ...usualClasses, ...given }
  const wrong = (name: keyof ClassLimits, must: string) =>
    new ConfigError(`placing.classes.${name} = ${limits[name]}: must be ${must}`)
  if (!(limits.intermediate >= 0)) throw wrong('intermediate', 'an amount of work, 0 or more')
  if (!(limits.max >= limits.intermediate))
    throw wrong('max', `at least intermediate (${limits.intermediate})`)
  for (const name of ['mostIntermediate', 'mostMax', 'mostQueued'] as const)
    if (!(Number.isInteger(limits[name]) && limits[name] >= 1)) throw wrong(name, 'a whole number, 1 or more')
  if (!(limits.highCpu > 0)) throw wrong('highCpu', 'a share above 0')
  if (!(limits.graceMs > 0 && limits.graceMs < Infinity)) throw wrong('graceMs', 'milliseconds, above 0')
  return limits
}

export function classOf(work: number, { intermediate, max }: ClassLimits): JobClass {
  if (work >= max) return 'max'
  return work >= intermediate ? 'intermediate' : 'short'
}

export type ClassCounts = Record<'max' | 'intermediate', number>

/** The requests on a worker by class. */
export function countClasses({ jobs }: WorkerRecord, limits: ClassLimits): ClassCounts {
  const counts = { max: 0, intermediate: 0 }
  for (const { job } of jobs) {
    const kind = classOf(job.work, limits)
    if (kind !== 'short') counts[kind]++
  }
  return counts
}

/** Whether a worker may take one more request of this class. */
export function hasPlaceFor(
  kind: JobClass,
  cpu: number | null,
  counts: ClassCounts,
  { highCpu, mostMax, mostIntermediate }: ClassLimits,
): boolean {
  if (kind === 'short') return true
  if (cpu !== null && cpu > highCpu) return false
  if (kind === 'max') return counts.max < mostMax && counts.intermediate === 0
  return counts.intermediate < mostIntermediate && counts.max === 0
}
