/** What a front in a process of its own and the brain say to each other. docs/protocol.md describes it. */

import type { AttemptToken } from '../model/attempt.ts'
import type { Cost } from '../model/cost.ts'
import type { Features } from '../model/estimate.ts'
import type { Event } from '../model/event.ts'
import type { Outcome, Precedence } from '../model/job.ts'
import type { Quantity } from '../model/metering.ts'
import type { Reason } from '../model/reason.ts'
import type { FrontLimits, RepeatOptions } from './front-settings.ts'

/** Where a worker, or a function, takes attempts. */
export interface Address {
  host: string
  port: number
}

/** The first message of a front, also after a reconnect. */
export interface FrontHello {
  type: 'front'
  version: number
  id: string
  /** Its process, for operators on its machine. */
  pid: number
  /** Drawn at its start: tells it from others of the same name, whose processes in containers often have the same number. */
  instance?: string
  launch?: string
  /** The hash of each workload's code. */
  code: Record<string, string>
  /** What it would go on with. Undefined: nothing. */
  session?: string
  /** The last message of that session that it has. */
  received: number
}

export interface FrontWelcome {
  type: 'welcome'
  /** Names what both sides remember of each other from here on. */
  session: string
  /** True: it is the one that the front named, and goes on. */
  resumed: boolean
  /** The last message of the session that the brain has. */
  received: number
  epoch: number
  beatMs: number
  clientBy: string
  limits: FrontLimits
  /** Whether answers are given again, from the one cache of the cluster, or shared, which each front does by itself. */
  repeats: RepeatOptions
  /** What answers say of their cost in headers of their own. */
  quantities: readonly Quantity[]
  /** Most requests that it holds while the brain is away. */
  queue: number
  workers: { id: string; address: Address }[]
  ready: boolean
}

/** A request, as far as the brain needs to know it. */
export interface Arrival {
  job: string
  workload: string
  /** Of its question. */
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
}

/** What a request is that is only asked about. */
export type Asked = Pick<Arrival, 'workload' | 'key' | 'features'> & { params?: unknown }

/** What a front tells of the attempts of its jobs. */
export type AttemptEvent = Extract<Event, { type: 'answering' | 'finished' | 'failed' }>

export type FromFront =
  /** It takes requests: at this address, or at the cluster's own. */
  | { type: 'listening'; url?: string }
  | ({ type: 'arrived' } & Arrival)
  | { type: 'attempt'; event: AttemptEvent; cost?: Cost }
  /** Nobody waits for the job any more. */
  | { type: 'cancelled'; job: string }
  /** It knows that the attempt may start: from here on it does not take it for one that can be repeated. */
  | ({ type: 'going' } & AttemptToken)
  | { type: 'ask'; ask: number; about: Asked }
  /** It has nothing in hand any more and ends. */
  | { type: 'left' }

/** What a client is answered instead of a result. */
export interface ToldProblem {
  status: number
  code: string
  message: string
  headers: Record<string, string>
}

export type ToFront =
  | { type: 'worker'; id: string; address: Address }
  | { type: 'worker-gone'; id: string }
  /** With an address: to a function, which is there. */
  | ({ type: 'run'; worker: string; address?: Address; precedence?: Precedence } & Quoted & AttemptToken)
  | ({ type: 'go' } & AttemptToken)
  /** The attempt is not wanted any more. */
  | ({ type: 'let-go' } & AttemptToken)
  | { type: 'answer'; job: string; outcome: Outcome; reason: Reason }
  /** The job is answered with this, whatever becomes of it. */
  | { type: 'abandon'; job: string; problem: ToldProblem }
  /** With a problem: there is none, and this is why. */
  | { type: 'quote'; ask: number; quote?: unknown; problem?: ToldProblem }
  | { type: 'ready'; ready: boolean }
  /** The brain ends. Who is started by it refuses what comes, others hold it for its successor. */
  | { type: 'stopping' }
  /** Take nothing more, finish what is in hand, and end. */
  | { type: 'leave' }

/** What the job is expected to cost, and how long it took to say so. */
export interface Quoted {
  work: number
  high?: number
  estimateMs: number
}

/** Longer parameters are not told; the ledger then says how long they were. */
export const longestParams = 16 * 1024
