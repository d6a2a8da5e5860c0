/** The messages between a front in another process and the brain. docs/reference/protocol.md describes them. */

import type { Allowance } from '../model/allowance.ts'
import type { AttemptToken, Ongoing } from '../model/attempt.ts'
import type { Cost } from '../model/cost.ts'
import type { Features } from '../model/estimate.ts'
import type { Event } from '../model/event.ts'
import type { Outcome, Precedence } from '../model/job.ts'
import type { Quantity } from '../model/metering.ts'
import type { OverloadStatus } from '../model/overload.ts'
import type { Reason } from '../model/reason.ts'
import type { DirectOrder, DirectReport, DirectStanding } from './direct.ts'
import type { FrontLimits, RepeatOptions } from './front-settings.ts'
import type { KeeperPlace } from './kept.ts'

/** Where a worker or a function accepts attempts. */
export interface Address {
  host: string
  port: number
  /** True: over TLS, with a key derived from the token of attempts. Default: plain, on this machine. */
  tls?: true
}

/** The first message of a front, also after a reconnect. */
export interface FrontHello {
  type: 'front'
  version: number
  id: string
  /** Its process, for operators on its machine. */
  pid: number
  /** Random: distinguishes fronts with the same id, whose pids in containers are often equal. */
  instance?: string
  launch?: string
  /** The hash of each workload's code. */
  code: Record<string, string>
  /** The session to resume. Undefined: none. */
  session?: string
  /** The last message of that session that it received. */
  received: number
  /** As of workers. */
  follows?: number
}

export interface FrontWelcome {
  type: 'welcome'
  /** Identifies the session for a reconnect. */
  session: string
  /** True: the session that the front named continues. */
  resumed: boolean
  /** The last message of the session that the brain received. */
  received: number
  epoch: number
  beatMs: number
  clientBy: string
  limits: FrontLimits
  /** The cache is one for the cluster; coalescing is done by each front alone. */
  repeats: RepeatOptions
  /** Quantities that answers report in headers. */
  quantities: readonly Quantity[]
  /** Maximum number of requests held while the brain is unreachable. */
  queue: number
  workers: { id: string; address: Address }[]
  /** Undefined: nothing is sent directly. */
  direct?: DirectOrder
  /** Authorizes attempts at workers and functions. */
  attemptToken: string
  ready: boolean
  /** Undefined: there is none now. */
  keeper?: KeeperPlace
}

/** A request as the brain needs to know it. */
export interface Arrival {
  job: string
  workload: string
  key: string
  features: Features
  /** For the ledger. */
  params: Record<string, unknown>
  hasBody: boolean
  client?: string
  lane?: string
  /** From now on. */
  deadlineMs?: number
  safeToRepeat?: false
  preemptible?: false
  /** The attempt that an earlier brain began, and that goes on. */
  on?: Ongoing
}

/** A request for a quote. */
export type Asked = Pick<Arrival, 'workload' | 'key' | 'features'> & { params?: unknown }

/** Events of a front's attempts. */
export type AttemptEvent = Extract<Event, { type: 'answering' | 'finished' | 'failed' }>

export type FromFront =
  /** It accepts requests, at this URL or at the cluster's. */
  | { type: 'listening'; url?: string }
  | ({ type: 'arrived' } & Arrival)
  | { type: 'attempt'; event: AttemptEvent; cost?: Cost }
  /** The client has disconnected. */
  | { type: 'cancelled'; job: string }
  /** Acknowledges `go`: from now on the front does not repeat the attempt. */
  | ({ type: 'going' } & AttemptToken)
  | { type: 'ask'; ask: number; about: Asked }
  /** How overloaded its process is, when that changes. */
  | { type: 'overload'; status: OverloadStatus }
  /** Requests so far that joined the job of another. */
  | { type: 'shared'; count: number }
  /** A request is to be kept, and it knows no keeper. */
  | { type: 'wants-keeper' }
  /** What happened on the direct path. */
  | ({ type: 'direct' } & DirectReport)
  | ({ type: 'direct-standing' } & DirectStanding)
  /** It accepts no more connections, and ends when its requests are answered. */
  | { type: 'leaving' }
  /** All its requests are answered, and it ends. */
  | { type: 'left' }

/** The answer to a client in place of a result. */
export interface ToldProblem {
  status: number
  code: string
  message: string
  headers: Record<string, string>
}

export type ToFront =
  | { type: 'worker'; id: string; address: Address }
  | { type: 'worker-gone'; id: string }
  | ({ type: 'direct' } & DirectOrder)
  /** With an address: in a function. */
  | ({
      type: 'run'
      worker: string
      address?: Address
      precedence?: Precedence
      /** Time allowed for a connection to the worker. */
      connectMs?: number
      allowance?: Allowance
    } & Quoted &
      AttemptToken)
  | ({ type: 'go' } & AttemptToken)
  /** Cancels the attempt. */
  | ({ type: 'let-go' } & AttemptToken)
  | { type: 'answer'; job: string; outcome: Outcome; allowance?: Allowance; reason: Reason }
  /** Ends the job with this problem. */
  | { type: 'abandon'; job: string; problem: ToldProblem }
  /** With a problem in place of a quote. */
  | { type: 'quote'; ask: number; quote?: unknown; problem?: ToldProblem }
  | { type: 'ready'; ready: boolean }
  /** Where the keeper is now; undefined: there is none. */
  | { type: 'keeper'; keeper?: KeeperPlace }
  /** The brain ends. Fronts that it started refuse new requests; others hold them for its successor. */
  | { type: 'stopping' }
  /** Finish all requests, accept no more, and end. */
  | { type: 'leave' }

/** The job's estimate, and the time it took. */
export interface Quoted {
  work: number
  high?: number
  estimateMs: number
}

/** Longer parameters are not sent, only their hash and length. */
export const longestParams = 16 * 1024
