/** A cluster's configuration as a user writes it: in `plimsoll.config.ts`, or as JSON or YAML. */

import type { Features } from '../model/estimate.ts'

/** The options of `plimsoll up`, by their names in camelCase. What the command line says goes before them. */
export interface UpConfig {
  port?: number
  adminPort?: number
  host?: string
  fronts?: number
  min?: number
  max?: number
  preset?: string
  /** Divide the preset's times, and its amounts of work. */
  timeScale?: number
  workScale?: number
  /** Files and folders are sought from the configuration's own folder, as are `data` and `eventLog`. */
  workloads?: string
  meter?: string
  formula?: string
  data?: string
  queue?: number
  slots?: number
  clientBy?: string
  rateLimit?: string | number
  rateBurst?: string | number
  fair?: boolean
  jobMemory?: number
  pricePerHour?: number
  scale?: string
  target?: number
  promise?: string
  paidMinimum?: number
  paidPeriod?: number
  functions?: number
  pricePerGbSecond?: number
  pricePerInvocation?: number
  priceOfWaiting?: number
  coalesce?: boolean
  cache?: number
  cacheAge?: number
  stopAfter?: number
  eventLog?: string
}

/** Workloads, as without a configuration; or an HTTP server of the user's own: `workers`, or `upstreams`. */
export interface PlimsollConfig extends UpConfig {
  /** A program that Plimsoll starts, as often as it needs it. */
  workers?: OwnServer
  /** Programs that run already: `http://127.0.0.1:9000`, … They are balanced and watched, but not scaled. */
  upstreams?: string[]
  /** A path that each upstream answers with a status of 200 to 399 when it is well. Default: a connection suffices. */
  health?: string
  /** Requests that each upstream is given at a time. Default 1. */
  concurrency?: number
  /** Tried in order. Default: one, named `server`, for all paths and methods. */
  routes?: RouteConfig[]
  /** Longer bodies of requests are refused. Default: 1 GiB. */
  maxBodyBytes?: number
}

/** A program that serves HTTP. */
export interface OwnServer {
  /**
   * How it is started, without a shell; a string is split as a shell would. It must say where to listen: on `{port}` of
   * 127.0.0.1, or on the unix socket `{socket}`, for example 'env PORT={port} node app.js'.
   */
  command: string | string[]
  /** A path that it answers with a status of 200 to 399 when it is well. Default: that it can be connected to suffices. */
  health?: string
  /** Requests that one process of it is given at a time. With more than 1 they are not preempted. Default 1. */
  concurrency?: number
  /** Default: the folder of the configuration. */
  cwd?: string
  /** Added to the environment. */
  env?: Record<string, string>
  /** It must be well so soon after its start. Default 30,000. */
  startMs?: number
  /** While it has nothing to do its health is looked at so often. Default 5,000. */
  healthEveryMs?: number
}

/** Requests whose costs are learned together. */
export interface RouteConfig {
  /** Names it in quotes, in the ledger and in `status`: lower-case letters, digits and hyphens. */
  name: string
  /** `/render/:scene`, `/files/**`: `:x` is one part of the path, `**` the rest. */
  path: string
  /** Default: all. GET includes HEAD. */
  methods?: string[]
  /**
   * What the cost depends on. By name, where it is found: `path.scene`, `query.width`, `header.x-size`,
   * `json.options.depth`, `body.bytes`, `method`; or a quick function. Default: all of the path, the query, the
   * fields of a small JSON body and the size of the body.
   */
  features?: Record<string, string> | ((request: RouteRequest) => Features)
  /**
   * True: may be tried again after a loss whatever the method. False: never. Default: GET, HEAD, PUT, DELETE, OPTIONS and
   * TRACE may, and whatever carries an Idempotency-Key.
   */
  repeat?: boolean
  /** False: it is never paused. Default true. */
  preemptible?: boolean
  /** Requests that name no deadline are given up after so long. Default: never. */
  deadlineMs?: number
}

/** What a function of features is given. */
export interface RouteRequest {
  method: string
  /** The parts that the route's path names, decoded; what `**` stands for as `**`. */
  path: Record<string, string>
  /** Of a name that is given more than once the first value. */
  query: Record<string, string>
  /** By names in lower case. */
  headers: Record<string, string>
  /** Undefined: there is none, it is longer than 64 KiB, or it is not JSON. */
  json: unknown
  /** Length of the body; 0 if it has none, or comes in chunks, so that only its end will tell. */
  bytes: number
}

/** Gives an editor the types of a configuration. It is checked when it is loaded. */
export function defineConfig(config: PlimsollConfig): PlimsollConfig {
  return config
}
