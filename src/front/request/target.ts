/**
 * What a request is for: a workload, or a route of an existing server. `workloads.ts` and `routes.ts` implement these
 * types; everything else on a request's path is the same for both.
 */

import type { IncomingMessage } from 'node:http'
import type { Question, Quote } from '../../estimate/estimator.ts'
import type { Estimate } from '../../model/estimate.ts'
import type { Client } from '../client.ts'
import type { Receiver } from '../receiver.ts'
import type { Transport } from '../transports/transport.ts'
import type { Body, BodyOptions } from './body.ts'
import type { RequestUrl } from './url.ts'

/** A client's request before anything of it is known. */
export interface Incoming {
  request: IncomingMessage
  client: Client
  /** Set: the client waits for 100 Continue before it sends the body. */
  sendContinue?: (() => void) | undefined
}

/** The parts of a request that choose its target. */
export interface Asked extends Incoming {
  url: RequestUrl
  /** Differs from the request's own where only a quote is wanted. */
  method: string
}

/** All targets of a front. */
export interface Service {
  /** Time limit for a whole request; 0: none. */
  readonly requestMs: number
  /** True: clients may ask to switch protocols. */
  readonly upgrades: boolean
  list(): ServedEntry[]
  /** Throws a 404, a 405, or a 413 if the URL alone is too long. */
  find(asked: Asked): Target
  /** The method that a request for a quote is about. */
  quotedMethod(request: IncomingMessage): string
}

/** An entry of `/-/workloads`. */
export interface ServedEntry {
  name: string
  description: string
  path: string
  /** Of a route of an existing server; empty: any method. */
  methods?: readonly string[]
  /** Query parameters that a route's estimates depend on; undefined: any may. */
  query?: readonly string[]
}

export interface Target {
  /** How its body is read. */
  readonly body: BodyOptions
  /**
   * Reads what an estimate needs of the body. `clientName`: of the client, which shares threads with others. Rejects
   * with a problem if the request is malformed.
   */
  read(body: Body, clientName: string): Promise<TargetRequest>
}

/** A request that can be estimated and run. */
export interface TargetRequest {
  /** The workload or the route. */
  readonly name: string
  /** What the ledger stores of it. */
  readonly params: Record<string, unknown>
  /** True: it has a body besides `params`. */
  readonly hasBody: boolean
  question(): Question
  jobFacts(quote: Quote): JobFacts
  /** Undefined: no answer may be cached or shared. */
  repeat(): Repeat | undefined
  transport(receiver: Receiver): Transport
}

/** What the brain learns of a job, in its own units. */
export interface JobFacts extends Pick<Estimate, 'work' | 'low' | 'high' | 'unproven'> {
  memoryMb: number
  /** Default for requests without a deadline of their own. */
  deadlineMs: number | undefined
  preemptible: boolean
  safeToRepeat: boolean
  lane?: string | undefined
}

/** Of a deterministic request. */
export interface Repeat {
  /** How long an answer may be cached. */
  cacheMs: number
  /** Equal for requests that are owed the same answer. */
  key(): Promise<string>
}
