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
