/** Serverless functions: each runs one job at a time, starts on demand, and is paid for only while it runs. */

import type { AttemptEnd, Upstream } from './transport.ts'

/** One provider. All its functions share one id. */
export interface Functions {
  readonly id: string
  /**
   * Runs one attempt of this workload in a function; `use` sends it there. Resolves to its end, which is `throttled` if
   * no function is free and `timeout` if it ran too long. Rejects if the function does not start or dies, or if `use`
   * rejects. An aborted function is ended.
   */
  invoke(
    workload: string,
    signal: AbortSignal,
    use: (upstream: Upstream) => Promise<AttemptEnd | undefined>,
  ): Promise<AttemptEnd | undefined>
  /** Busy and warm functions. */
  list(): { pid: number | undefined; busy: boolean; workload?: string }[]
  /** Ends all, and resolves when none is left. Idempotent. */
  close(): Promise<void>
}

export interface FunctionLimits {
  /** Maximum number that run at a time; further attempts are throttled. */
  concurrency: number
  memoryMb: number
  /** Limit of an attempt's run time, and how long an idle function stays warm. */
  timeoutMs: number
  keepWarmMs: number
  /** True: a function runs only one workload. Default: any function runs all. */
  perWorkload?: boolean
}

/** Functions that a cluster has opened. */
export interface ClusterFunctions extends Functions {
  /** Starts functions with this command from now on, if they are processes. Those of the last command end with their job. */
  use(command: string[]): void
}

/** Functions elsewhere, in place of processes of this machine. */
export interface FunctionProvider {
  /** The id of all its functions. */
  id: string
  /** Initial estimate of a cold start; the brain learns the real time. */
  coldMs: number
  /** How long an idle function stays warm. */
  keepWarmMs: number
  /** The speed of a function with this memory, as a multiple of that of a worker's core. */
  speed(memoryMb: number): number
  open(parts: ProviderParts): ClusterFunctions
}

export interface ProviderParts {
  id: string
  limits: FunctionLimits
  /** Work that one function does per second, as the brain assumes at first. */
  workPerSecond: number
  /** An attempt that is predicted to take less may take this long. */
  patienceMs: number
  /** Authorizes attempts. */
  token: string
  /** Hashes of the code that is served now, by workload. */
  code(): Readonly<Record<string, string>>
  log(line: string): void
}
