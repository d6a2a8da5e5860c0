/** A workload: one function with a name and parameters that computes the answer to a request. Slots load it: it imports little. */
import { boundsText, isWithin } from '../lib/checks.ts'
import { ConfigError } from '../lib/errors.ts'
import type { Features } from '../model/estimate.ts'
import { largestParams } from './largest-params.ts'
import { isSchema, type StandardSchema } from './standard-schema.ts'

export { Refusal } from './refusal.ts'
export { type Reply, reply } from './reply.ts'

/** The binary body of the request; may be empty. It can be read once. */
export interface RequestBody extends AsyncIterable<Uint8Array> {
  bytes(): Promise<Uint8Array>
}

/** The context of a running job. */
export interface JobContext {
  /** The same in every attempt, so that a workload can deduplicate by it. */
  readonly jobId: string
  readonly attempt: number
  /** A folder that outlives the job, shared by all jobs of this worker. */
  readonly dataDir: string
  readonly body: RequestBody
  /** Reports progress, from 0 to 1. */
  progress(fraction: number): void
  /** Runs `fn` without pauses: for sections that hold a lock. */
  uninterrupted<T>(fn: () => T | Promise<T>): Promise<T>
  /** Adds work that the meter cannot see, such as that of a database or native code. */
  charge(units: number): void
  /** Counts innermost steps, for meters that know the cost of a step and count nothing else. */
  steps(count: number): void
  log(...values: unknown[]): void
}

export type { Features }

/** Selects the code that is metered. */
export interface MeterChoice {
  /** npm packages whose work counts. Their own dependencies must be named too. */
  packages?: readonly string[]
  /**
   * The only modules whose work counts, as the workload imports them (`lib/solver`), or functions of a module
   * (`lib/solver#step`), or names among `packages`. Default: all.
   */
  only?: readonly string[]
}

/** What is known of the binary body before the job runs. */
export interface BodyFacts {
  bytes: number
  /** The beginning, usually the first 64 KiB: enough for the header of a picture. */
  head: Uint8Array
}

/** What a user writes: `P` are the parameters, `R` what `run` returns, `I` the schema's input, `N` the name. */
export interface WorkloadDefinition<P, R = unknown, I = unknown, N extends string = string> {
  /** The path of its requests: `/{name}`. */
  name: N
  description: string
  /** Any Standard Schema v1, for example a zod object. Without one `run` gets the parameters unchecked. */
  params?: StandardSchema<I, P>
  /** False: a running job is never paused. Default true. */
  preemptible?: boolean
  /** False: an attempt that may have started is not retried. Default true. */
  safeToRepeat?: boolean | ((params: P) => boolean)
  /** True: the same parameters and body give the same answer, which may be cached. Default false. */
  deterministic?: boolean | ((params: P) => boolean)
  /** Maximum age of its cached answers. Default: no limit. */
  cacheMs?: number
  /** Deadline of requests that carry none, from their arrival. Default: none. */
  deadlineMs?: number
  /** Time limit of its jobs, pauses not included. Default: that of the cluster, one hour. */
  limitMs?: number
  /** Largest parameters, query and JSON body together, up to the largest body (16 MiB). Default: the cluster's, 64 KiB. */
  maxParamsBytes?: number
  /** What its cost depends on, for example `{ pixels: width * height }`. Must be fast. Default: parameters and body. */
  features?(params: P, body: BodyFacts): Features
  /** The queue of a request, for presets with several queues. Default: none. */
  lane?(params: P): string
  /** The code whose work counts. Default: the files of its folder. */
  meter?: MeterChoice
  /**
   * Computes the answer: a string is sent as text, bytes unchanged, an async iterable of either as a stream, nothing as
   * 204, `reply(…)` with its own status and headers, anything else as JSON.
   */
  run(params: P, ctx: JobContext): R
}

/** A checked workload. Clients infer from its type what requests take and what they answer. */
export interface Workload<P = unknown, R = unknown, I = unknown, N extends string = string> {
  readonly name: N
  readonly description: string
  readonly params?: StandardSchema<I, P>
  readonly preemptible: boolean
  safeToRepeat(params: P): boolean
  deterministic(params: P): boolean
  readonly cacheMs?: number
  readonly deadlineMs?: number
  readonly limitMs?: number
  readonly maxParamsBytes?: number
  features?(params: P, body: BodyFacts): Features
  lane?(params: P): string
  readonly meter: Required<Pick<MeterChoice, 'packages'>> & Pick<MeterChoice, 'only'>
  run(params: P, ctx: JobContext): R
}

/** Parameters of a workload without a schema. */
export type AnyParams = Record<string, unknown>

/** Checks a definition and fills in defaults; given a workload, returns an equal one. */
export function defineWorkload<P = AnyParams, R = unknown, I = unknown, const N extends string = string>(
  definition: WorkloadDefinition<P, R, I, N>,
): Workload<P, R, I, N> {
  const { name, description, params, preemptible = true, safeToRepeat = true, run } = shape(definition)
  const {
    deterministic = false,
    cacheMs,
    deadlineMs,
    limitMs,
    maxParamsBytes,
    features,
    lane,
    meter,
  } = definition
  return Object.freeze({
    name,
    description,
    ...(params && { params }),
    preemptible,
    safeToRepeat: typeof safeToRepeat === 'function' ? safeToRepeat : () => safeToRepeat,
    deterministic: typeof deterministic === 'function' ? deterministic : () => deterministic,
    ...(cacheMs !== undefined && { cacheMs }),
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(limitMs !== undefined && { limitMs }),
    ...(maxParamsBytes !== undefined && { maxParamsBytes }),
    ...(features && { features }),
    ...(lane && { lane }),
    meter: { packages: [...(meter?.packages ?? [])], ...(meter?.only && { only: [...meter.only] }) },
    run,
  })
}

const allowed =
  'name, description, params, preemptible, safeToRepeat, deterministic, cacheMs, deadlineMs, limitMs, maxParamsBytes, features, lane, meter, run'.split(
    ', ',
  )

function shape<P, R, I, N extends string>(
  definition: WorkloadDefinition<P, R, I, N>,
): WorkloadDefinition<P, R, I, N> {
  if (typeof definition !== 'object' || definition === null) {
    throw new ConfigError(`a workload is an object, not ${definition === null ? 'null' : typeof definition}`)
  }
  const { name, description, params, preemptible, safeToRepeat, deterministic, cacheMs } = definition
  const { deadlineMs, limitMs, maxParamsBytes, features, lane, meter, run } = definition
  const wrong = (option: string, value: unknown, must: string) =>
    new ConfigError(`workload ${String(name)}: ${option} = ${String(value)}: must be ${must}`)
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]*$/.test(name)) {
    throw wrong('name', name, 'lower-case letters, digits and hyphens, and begin with a letter')
  }
  const unknown = Object.keys(definition).find((key) => !allowed.includes(key))
  if (unknown) {
    throw new ConfigError(`workload ${name}: unknown option ${unknown}; options are ${allowed.join(', ')}`)
  }
  if (typeof description !== 'string') throw wrong('description', description, 'a string')
  if (params !== undefined && !isSchema(params)) {
    throw wrong('params', params, 'a Standard Schema v1, for example a zod object')
  }
  if (preemptible !== undefined && typeof preemptible !== 'boolean') {
    throw wrong('preemptible', preemptible, 'true or false')
  }
  if (safeToRepeat !== undefined && !['boolean', 'function'].includes(typeof safeToRepeat)) {
    throw wrong('safeToRepeat', safeToRepeat, 'true, false or a function of the parameters')
  }
  if (deterministic !== undefined && !['boolean', 'function'].includes(typeof deterministic)) {
    throw wrong('deterministic', deterministic, 'true, false or a function of the parameters')
  }
  for (const [option, ms] of Object.entries({ cacheMs, deadlineMs, limitMs })) {
    if (ms !== undefined && !(typeof ms === 'number' && ms > 0 && ms < Infinity)) {
      throw wrong(option, ms, 'a number of milliseconds, more than 0')
    }
  }
  const bounds = { min: 1, max: largestParams, integer: true }
  if (maxParamsBytes !== undefined && !isWithin(maxParamsBytes, bounds)) {
    throw wrong('maxParamsBytes', maxParamsBytes, boundsText(bounds))
  }
  if (cacheMs !== undefined && !deterministic) {
    throw wrong('cacheMs', cacheMs, 'left out where deterministic is not given: no answer is given again')
  }
  if (features !== undefined && typeof features !== 'function') {
    throw wrong('features', features, 'a function of the parameters and the body')
  }
  if (lane !== undefined && typeof lane !== 'function') {
    throw wrong('lane', lane, 'a function of the parameters')
  }
  if (meter !== undefined && !isMeterChoice(meter)) {
    const must = "{ packages: ['name', …], only: ['module', …] } with names of npm packages and of modules"
    throw wrong('meter', JSON.stringify(meter), must)
  }
  if (typeof run !== 'function') throw wrong('run', run, 'a function')
  return definition
}

function isMeterChoice(meter: unknown): boolean {
  if (typeof meter !== 'object' || meter === null) return false
  const { packages = [], only = ['module'], ...others } = meter as MeterChoice
  const isName = (name: unknown) => typeof name === 'string' && /^(@[\w.-]+\/)?[\w-][\w.-]*$/.test(name)
  const isModule = (name: unknown) => typeof name === 'string' && name !== ''
  const isList = Array.isArray(only) && only.length > 0 && only.every(isModule)
  return isList && Array.isArray(packages) && packages.every(isName) && Object.keys(others).length === 0
}
