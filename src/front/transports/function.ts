/** Functions: places that run one job at a time, start when they are needed, and are paid for only while they run. */

import type { AttemptEnd, Upstream } from './transport.ts'

/** One provider. All its functions go by one name. */
export interface Functions {
  readonly id: string
  /**
   * Has a function take one attempt at a job of this workload: `use` carries it there. Resolves to how that ended, or, where no function takes it
   * (429) or its time is up, to that. Rejects if it cannot be started, dies, or `use` rejects. What is aborted is ended.
   */
  invoke(
    workload: string,
    signal: AbortSignal,
    use: (upstream: Upstream) => Promise<AttemptEnd | undefined>,
  ): Promise<AttemptEnd | undefined>
  /** Those that are there, at work or warm. */
  list(): { pid: number | undefined; busy: boolean; workload?: string }[]
  /** Ends all, and resolves when none is left. Idempotent. */
  close(): Promise<void>
}

/** What one may have. */
export interface FunctionLimits {
  /** Most that run at a time: one more is turned away. */
  concurrency: number
  memoryMb: number
  /** How long a job may take, and how long one that is idle is kept. */
  timeoutMs: number
  keepWarmMs: number
  /** True: each workload has functions of its own, which run nothing else. Default: any runs all. */
  perWorkload?: boolean
}
