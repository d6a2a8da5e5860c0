/**
 * The nouns that every room shares. Times are milliseconds on whichever clock drives the brain, real or
 * virtual; work is metered units; a rate is work a second.
 */

/** What a job is expected to cost. `low` and `high` bound 90 % of such jobs. */
export interface Estimate {
  work: number
  low: number
  high: number
  source: 'memo' | 'model' | 'similar' | 'prior' | 'simulated'
}

/** One request for work, as the brain sees it: small facts, never the body. */
export interface Job {
  id: string
  workload: string
  /** Predicted work, and the interval that bounds 90 % of such jobs. */
  work: number
  low?: number
  high?: number
  /** Predicted peak resident memory. */
  memoryMb: number
  client?: string
  /** Which of several queues it belongs in, for policies that have more than one. */
  lane?: string
  /** The node that it came in through, where there are several fronts. Undefined: the coordinator. */
  front?: string
  deadlineAt?: number
  /** False: started at most once; the worker says `ready` and waits for `go`. Default true. */
  safeToRepeat?: boolean
  /** False: once it runs it is not paused. Default true. */
  preemptible?: boolean
}

/** What lets a job go before others, or after them, whatever is left of it. */
export interface Precedence {
  /** 0, or more for a job of a client that has had more than its share. */
  tier: number
  /** Until it has done so much work it goes before all others, among its like in order of `due`, a time. */
  until: number
  due: number
}

/** Names one try at a job. A message that carries an older token than the brain holds is superseded. */
export interface AttemptToken {
  epoch: number
  job: string
  attempt: number
}

/** What a worker says of itself when it joins. */
export interface WorkerFacts {
  id: string
  cores: number
  workPerSecond: number
  memoryMb: number
  /** Most jobs it holds at once, running and paused. */
  slots: number
}

/**
 * What a node of a cluster with tiers is for: a front takes requests in and puts them into the queues, a middle pulls
 * from the queues and does the work.
 */
export type Role = 'front' | 'middle'

/** When a node asks to be ended: it has had nothing to do for so long, or `gaps` requests in a row came so late after another. */
export interface EndingRule {
  idleMs: number
  gapMs: number
  gaps: number
}

/** An attempt that a worker has in its hands, as it reports it. */
export interface HeldAttempt extends AttemptToken {
  /** Work done so far, where the worker knows better than the brain can extrapolate. */
  done?: number
}

/** Why an attempt ended without a result. */
export type FailureKind =
  /** The workload's own error: the client's answer, not retried. */
  | 'error'
  /** The job outgrew a bound of its own (memory, time): the client's answer, not retried. */
  | 'limit'
  /** The job took its slot down. */
  | 'crash'
  /** Something from outside took its slot down: the kernel, or an operator. */
  | 'killed'
  /** The worker had nothing to run it with: its program was not well. */
  | 'unready'
  /** The worker could not be reached. */
  | 'unreachable'
  /** The worker would not take it. */
  | 'refused'
  /** Of a function: it has no room for more just now (429). */
  | 'throttled'
  /** Of a function: it ran as long as a function may. */
  | 'timeout'

/** What happens to the brain. */
export type Event =
  | { type: 'arrived'; job: Job }
  | { type: 'cancelled'; job: string }
  /** An attempt that may start only once asks for permission. */
  | ({ type: 'ready'; worker: string } & AttemptToken)
  | ({ type: 'progressed'; worker: string; done: number } & AttemptToken)
  /** A long answer has begun to come: from here on its connection tells whether it is lost, and not the worker, whose part is soon over. */
  | ({ type: 'answering'; worker: string } & AttemptToken)
  | ({ type: 'finished'; worker: string; work: number } & AttemptToken)
  /** `work`: what was done all the same, where it was measured. */
  | ({ type: 'failed'; worker: string; kind: FailureKind; message?: string; work?: number } & AttemptToken)
  /** `seq` grows with every message of a worker, so that late and doubled ones are recognised. */
  /** `bootMs`: how long it took to come up, where that began before its launch. */
  | {
      type: 'joined'
      worker: WorkerFacts
      launch?: string
      bootMs?: number
      seq: number
      held: HeldAttempt[]
    }
  /** `cpuMs`: the CPU time that its jobs have had since it began, where that is measured. */
  | { type: 'reported'; worker: string; seq: number; held: HeldAttempt[]; cpuMs?: number; role?: Role }
  /** A node asks to be ended: it had nothing to do for `ms`, or requests come so late one after another. */
  | { type: 'would-end'; worker: string; why: 'idle' | 'slow'; ms: number }
  | { type: 'lost'; worker: string; message?: string }
  | { type: 'launch-failed'; launch: string; message?: string }
  /** What the provider says is there, of all that carries our tag; a launch that is there twice stands there twice. */
  | { type: 'listed'; launches: string[]; askedAt: number }
  /** This worker is to go once it is empty: an operator wants it, or it was told so itself and asks for no more. */
  | { type: 'drain'; worker: string; by?: 'worker' }
  | { type: 'tick' }

/** A code with the numbers that decided; `explain` puts it into words when someone asks. */
export interface Reason {
  code: string
  [fact: string]: string | number
}

/** How a job ended for its client. */
export type Outcome = 'result' | 'error' | 'refused' | 'unknown' | 'dropped'

/** What the brain wants done. */
export type Action =
  | ({
      type: 'run'
      worker: string
      /** Undefined: none. */
      precedence?: Precedence
      reason: Reason
    } & AttemptToken)
  /** Run this attempt in a function. Its end comes as that of any attempt, with the function as `worker`. */
  | ({ type: 'overflow'; function: string; reason: Reason } & AttemptToken)
  | ({ type: 'go'; worker: string } & AttemptToken)
  /** From now on the attempt has this precedence. */
  | ({ type: 'rank'; worker: string; precedence: Precedence; reason: Reason } & AttemptToken)
  | ({ type: 'cancel'; worker: string; reason: Reason } & AttemptToken)
  /** The job waits in the queue. */
  | { type: 'wait'; job: string; reason: Reason }
  | { type: 'answer'; job: string; outcome: Outcome; reason: Reason }
  /** Four that say what the brain knows, and leave nothing to do. The job lost its core there, */
  | ({ type: 'pause'; worker: string; reason: Reason } & AttemptToken)
  /** or has one again; */
  | ({ type: 'resume'; worker: string; reason: Reason } & AttemptToken)
  /** it has done more than it was taken to need, and is now taken to need more; */
  | ({ type: 'revise'; worker: string; reason: Reason } & AttemptToken)
  /** this attempt has come to nothing, and another follows. */
  | ({ type: 'retry'; worker: string; reason: Reason } & AttemptToken)
  /** A message of a superseded attempt was recognised and ignored. */
  | ({ type: 'drop'; reason: Reason } & AttemptToken)
  | { type: 'launch'; launch: string; reason: Reason }
  /** Nobody waits for this launch any more: end whatever came of it, or still comes. Idempotent. */
  | { type: 'abandon'; launch: string; reason: Reason }
  | { type: 'drain'; worker: string; reason: Reason }
  /** This node is a front, or a middle, from now on, and asks to be ended by this rule. */
  | { type: 'role'; worker: string; role: Role; ending: EndingRule; reason: Reason }
  /** This node asked to be ended, and is to stay. */
  | { type: 'stay'; worker: string; reason: Reason }
  /** End this worker, whatever it holds. Idempotent. */
  | { type: 'terminate'; worker: string; reason: Reason }
  | { type: 'wake'; at: number }
