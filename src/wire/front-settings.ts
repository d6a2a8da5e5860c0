/** Settings of fronts: limits, caching and request coalescing. */

export interface BodyLimits {
  /** Larger bodies are refused. */
  maxBytes: number
  /** Larger bodies are kept in a temporary file. */
  memoryBytes: number
}

/** Certificates and their keys, in the same order. */
export interface TlsFiles {
  certs: readonly string[]
  keys: readonly string[]
}

export interface FrontLimits extends BodyLimits {
  /** Largest parameters of a workload that sets no limit of its own: query and JSON body together. */
  paramsBytes: number
  /** Space for all request bodies of a front together. */
  bodiesMemoryBytes: number
  bodiesDiskBytes: number
  /** Addresses and CIDR blocks of proxies whose forwarded headers are believed. */
  trustedProxies: readonly string[]
  /** True: connections from trusted proxies begin with a header of the PROXY protocol. */
  proxyProtocol: boolean
  /** Origins whose pages may use workloads (CORS), or `*`. */
  corsOrigins: readonly string[]
  /** TLS on the public port. Undefined: plain HTTP. Fronts on other machines have files of their own. */
  tls?: TlsFiles | undefined
  /** Largest request head. */
  headerBytes: number
  /** Time limit for a whole request; for the body of a request to a program, the longest pause. */
  requestMs: number
  /** A client that reads less of its answer than `minRate` on average over this time is disconnected. */
  stallMs: number
  /** Bytes per second that clients must send and read; 0: something over `requestMs` and `stallMs`. */
  minRate: number
  /** Memory and disk space for all answers that clients read slowly. */
  answerMemoryBytes: number
  answerDiskBytes: number
  /** A program's short answer is held back for at most this time, so that another worker can still answer. */
  holdMs: number
  /** True: clients see the messages and stacks of a workload's errors. */
  exposeErrors: boolean
  /** Maximum number of open connections of one address, and of requests that one client has in progress, at one front. */
  clientConnections: number
  clientRequests: number
  /** Memory limit of the brain's process and of each front, in MB. 0: half of that of the machine or container. */
  processMb: number
  /** Requests that are expected to take longer are kept, and answered with 202 at once; 0: none. */
  asyncAboveMs: number
  /** True: small requests of HTTP/1.1 that are sent directly are read without Node's HTTP server. */
  fastPath: boolean
}

export interface RepeatOptions {
  /** Size of the answer cache. Default: 0, no cache. */
  cacheBytes?: number
  /** Maximum age of a cached answer. Default: unlimited. */
  cacheAgeMs?: number
  /** True: equal requests at the same time share one job. */
  coalesce?: boolean
}
