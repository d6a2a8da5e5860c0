/** Settings of fronts: limits, caching and request coalescing. */

export interface BodyLimits {
  /** Larger bodies are refused. */
  maxBytes: number
  /** Larger bodies are kept in a temporary file. */
  memoryBytes: number
}

export interface FrontLimits extends BodyLimits {
  /** Largest parameters of a workload that sets no limit of its own: query and JSON body together. */
  paramsBytes: number
  /** Space for all request bodies of a front together. */
  bodiesMemoryBytes: number
  bodiesDiskBytes: number
  /** Addresses and CIDR blocks of proxies whose forwarded headers are believed. */
  trustedProxies: readonly string[]
  /** Largest request head. */
  headerBytes: number
  /** Time limit for a whole request; for the body of a request to a program, the longest pause. */
  requestMs: number
  /** A client that reads nothing of its answer for this long is disconnected. */
  stallMs: number
  /** A program's short answer is held back for at most this time, so that another worker can still answer. */
  holdMs: number
  /** True: clients see the messages and stacks of a workload's errors. */
  exposeErrors: boolean
}

export interface RepeatOptions {
  /** Size of the answer cache. Default: 0, no cache. */
  cacheBytes?: number
  /** Maximum age of a cached answer. Default: unlimited. */
  cacheAgeMs?: number
  /** True: equal requests at the same time share one job. */
  coalesce?: boolean
}
