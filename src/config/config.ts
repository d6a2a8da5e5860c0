/** A cluster's configuration as users write it, in `plimsoll.config.ts`, JSON or YAML. */

import type { Features } from '../model/estimate.ts'
import type { UpConfig } from './cluster-options.ts'

export type { UpConfig }

/** A cluster of workloads, or of an existing HTTP server (`workers` or `upstreams`). */
export interface PlimsollConfig extends UpConfig {
  /** A program that Plimsoll starts once per slot. */
  workers?: OwnServer
  /** Servers that run already, such as `http://127.0.0.1:9000`. They are balanced and health-checked, but not scaled. */
  upstreams?: string[]
  /** Health path: an upstream is healthy if it answers with a status from 200 to 399. Default: if it accepts connections. */
  health?: string
  /** Maximum number of concurrent requests per upstream. Default 1. */
  concurrency?: number
  /** The first match counts. Default: one route, named `server`, for all paths and methods. */
  routes?: RouteConfig[]
  /** Maximum size of a request body. Default: 1 GiB. */
  maxBodyBytes?: number
}

/** A program that serves HTTP. */
export interface OwnServer {
  /**
   * The command that starts it. No shell is involved; a string is split as a shell would split it. It may contain the
   * address to listen on: `{port}` on 127.0.0.1 or the unix socket `{socket}`, as in 'python3 app.py --port {port}'. Without either,
   * the program must listen on the port that the variable PORT names.
   */
  command: string | string[]
  /** Health path: the program is healthy if it answers with a status from 200 to 399. Default: if it accepts connections. */
  health?: string
  /** Maximum number of concurrent requests per process. Above 1, requests are not preempted. Default 1. */
  concurrency?: number
  /** Working folder. Default: the folder of the configuration. */
  cwd?: string
  /**
   * Files, folders and patterns, relative to `cwd`, that make up a version of the program, besides the files that its
   * command names and the modules that these import by relative paths. See docs/operating/restart.md.
   */
  files?: string[]
  /** Additional environment variables. */
  env?: Record<string, string>
  /** Time allowed to become healthy. Default 30,000. */
  startMs?: number
  /** Interval of health checks while it is idle. Default 5,000. */
  healthEveryMs?: number
}

/** Requests whose costs are learned together. */
export interface RouteConfig {
  /** Its name in quotes, in the ledger and in `status`: lower-case letters, digits and hyphens. */
  name: string
  /** A pattern such as `/render/:scene` or `/files/**`: `:x` matches one segment, `**` the rest. */
  path: string
  /** Default: all. GET includes HEAD. */
  methods?: string[]
  /**
   * What the cost depends on: a source for each name (`path.scene`, `query.width`, `header.x-size`,
   * `json.options.depth`, `body.bytes`, `method`), or a fast function. Default: the parts of the path, the query, the
   * fields of a small JSON body and the size of the body.
   */
  features?: Record<string, string> | ((request: RouteRequest) => Features)
  /**
   * True: requests are retried after a fault, whatever their method. False: never. Default: GET, HEAD, PUT, DELETE,
   * OPTIONS and TRACE are retried, and requests with an Idempotency-Key.
   */
  repeat?: boolean
  /** False: requests are never paused. Default true. */
  preemptible?: boolean
  /** Deadline of requests that carry none, from their arrival. Default: none. */
  deadlineMs?: number
  /** Time limit of its jobs, pauses not included. Default: `jobLimit` of the cluster. */
  limitMs?: number
}

/** The argument of a `features` function. */
export interface RouteRequest {
  method: string
  /** Named segments of the path, decoded; the rest that `**` matched under the name `**`. */
  path: Record<string, string>
  /** The first value of each name. */
  query: Record<string, string>
  /** Names are in lower case. */
  headers: Record<string, string>
  /** Undefined: no body, a body above 16 KiB, or not JSON. */
  json: unknown
  /** Length of the body; 0 if there is none, or if its length is unknown (chunked). */
  bytes: number
}

/** Gives editors the types of a configuration. The check follows when it is loaded. */
export function defineConfig(config: PlimsollConfig): PlimsollConfig {
  return config
}
