/**
 * Writes the event log as bytes. Every job leads to a few kinds of events and actions; these are put together
 * here piece by piece, in a fraction of the time that JSON.stringify takes, most of which goes into turning
 * numbers into strings. The log is much of what a simulated request costs. All else goes through JSON.stringify.
 */

import type { Action } from '../../model/action.ts'
import type { AttemptToken } from '../../model/attempt.ts'
import type { Event } from '../../model/event.ts'
import type { Job, Outcome } from '../../model/job.ts'
import type { Reason } from '../../model/reason.ts'
import type { BrainSpec } from '../../systems/brain-spec.ts'
import { encodeHeader } from './log.ts'
import { json, number, piece, put, string } from './log-bytes.ts'

const chunkBytes = 65_536
/** Room for one entry of the usual kinds, with names of usual lengths. */
const spareBytes = 65_536

export class LogWriter {
  readonly #sink: (chunk: Uint8Array) => void
  readonly #bytes = new Uint8Array(chunkBytes + spareBytes)
  #at = 0

  /** The sink must have done with a chunk when it returns: its bytes are used again. */
  constructor(sink: (chunk: Uint8Array) => void) {
    this.#sink = sink
  }

  header(brain: BrainSpec): void {
    this.#text(encodeHeader(brain))
  }

  entry(at: number, event: Event, actions: readonly Action[]): void {
    const end = isUsual(event, actions) ? entry(this.#bytes, this.#at, at, event, actions) : Infinity
    // An entry that is not usual, or had names too long for the buffer and ran over its end.
    if (end > this.#bytes.length) this.#text(`${JSON.stringify({ at, event, actions })}\n`)
    else this.#at = end
    if (this.#at >= chunkBytes) this.flush()
  }

  /** Hands on what has gathered. */
  flush(): void {
    if (this.#at > 0) this.#sink(this.#bytes.subarray(0, this.#at))
    this.#at = 0
  }

  #text(text: string): void {
    this.flush()
    this.#sink(piece(text))
  }
}

type Usual = Extract<Event, { type: 'arrived' | 'finished' | 'progressed' }>

/** True: a job arrives, goes on or ends, and few actions follow. */
function isUsual(event: Event, actions: readonly Action[]): event is Usual {
  const { type } = event
  if (type === 'arrived') {
    if (!isPlain(event.job)) return false
  } else if (type !== 'finished' && type !== 'progressed') return false
  if (actions.length > 8) return false
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i]!
    switch (action.type) {
      case 'run':
        if (action.precedence) return false
        continue
      case 'answer':
      case 'wait':
      case 'pause':
      case 'resume':
      case 'revise':
        continue
      default:
        return false
    }
  }
  return true
}

// Below, each function writes as those of log-bytes.ts do.

const entryIs = piece('{"at":')
const entryEnd = piece(']}\n')

function entry(to: Uint8Array, start: number, at: number, event: Usual, actions: readonly Action[]): number {
  let p = put(to, start, entryIs)
  p = writeEvent(to, number(to, p, at), event)
  for (let i = 0; i < actions.length; i++) {
    if (i > 0) to[p++] = 0x2c
    p = writeAction(to, p, actions[i]!)
  }
  return put(to, p, entryEnd)
}

const finishedIs = piece(',"event":{"type":"finished","epoch":')
const progressedIs = piece(',"event":{"type":"progressed","epoch":')
const workerIs = piece(',"worker":')
const workIs = piece(',"work":')
const doneIs = piece(',"done":')
const eventEnd = piece('},"actions":[')

/** With the beginning of the actions that follow. */
function writeEvent(to: Uint8Array, start: number, event: Usual): number {
  if (event.type === 'arrived') return arrived(to, start, event.job)
  const finished = event.type === 'finished'
  let p = put(to, start, finished ? finishedIs : progressedIs)
  p = tokenAndWorker(to, p, event)
  p = put(to, p, finished ? workIs : doneIs)
  p = number(to, p, finished ? event.work : event.done)
  return put(to, p, eventEnd)
}

const arrivedIs = piece(',"event":{"type":"arrived","job":{"id":')
const workloadIs = piece(',"workload":')
const lowIs = piece(',"low":')
const highIs = piece(',"high":')
const memoryIs = piece(',"memoryMb":')
const arrivedEnd = piece('}},"actions":[')

function arrived(to: Uint8Array, start: number, job: Job): number {
  let p = put(to, start, arrivedIs)
  p = string(to, p, job.id)
  p = put(to, p, workloadIs)
  p = string(to, p, job.workload)
  p = put(to, p, workIs)
  p = number(to, p, job.work)
  if (job.low !== undefined) p = number(to, put(to, p, lowIs), job.low)
  if (job.high !== undefined) p = number(to, put(to, p, highIs), job.high)
  p = put(to, p, memoryIs)
  p = number(to, p, job.memoryMb)
  return put(to, p, arrivedEnd)
}

/** True: of the fields that a job may lack it has none but the interval around its work. */
function isPlain({ client, lane, front, deadlineAt, safeToRepeat, preemptible }: Job): boolean {
  const wishes = safeToRepeat === undefined && preemptible === undefined && lane === undefined
  return wishes && front === undefined && client === undefined && deadlineAt === undefined
}

const attempts = {
  run: piece('{"type":"run","epoch":'),
  pause: piece('{"type":"pause","epoch":'),
  resume: piece('{"type":"resume","epoch":'),
  revise: piece('{"type":"revise","epoch":'),
}
const answerIs = piece('{"type":"answer","job":')
const attemptIs = piece(',"attempt":')
const outcomes: Readonly<Record<Outcome, Uint8Array>> = {
  result: piece(',"outcome":"result"'),
  error: piece(',"outcome":"error"'),
  refused: piece(',"outcome":"refused"'),
  unknown: piece(',"outcome":"unknown"'),
  dropped: piece(',"outcome":"dropped"'),
}
const waitIs = piece('{"type":"wait","job":')

function writeAction(to: Uint8Array, start: number, action: Action): number {
  let p = start
  switch (action.type) {
    case 'run':
    case 'pause':
    case 'resume':
    case 'revise':
      p = tokenAndWorker(to, put(to, p, attempts[action.type]), action)
      return writeReason(to, p, action.reason)
    case 'answer':
      p = string(to, put(to, p, answerIs), action.job)
      p = put(to, p, outcomes[action.outcome])
      return writeReason(to, p, action.reason)
    case 'wait':
      p = string(to, put(to, p, waitIs), action.job)
      return writeReason(to, p, action.reason)
    default:
      return json(to, p, action)
  }
}

const jobIs = piece(',"job":')

const firstAttempt = piece(',"attempt":1,"worker":')

function tokenAndWorker(to: Uint8Array, start: number, token: AttemptToken & { worker: string }): number {
  const { epoch, job, attempt, worker } = token
  let p = number(to, start, epoch)
  p = string(to, put(to, p, jobIs), job)
  // Most attempts are the first.
  if (attempt === 1) p = put(to, p, firstAttempt)
  else p = put(to, number(to, put(to, p, attemptIs), attempt), workerIs)
  return string(to, p, worker)
}

const reasonEnd = piece('}}')

/** The facts that go with a code are mostly the same, so what stands before each is prepared only once. */
interface Prepared {
  head: Uint8Array
  facts: { name: string; prefix: Uint8Array }[]
}
const preparedFor = new Map<string, Prepared>()

function prepare(reason: Reason): Prepared {
  const names = Object.keys(reason).filter((name) => name !== 'code')
  const prepared = {
    head: piece(`,"reason":{"code":${JSON.stringify(reason.code)}`),
    facts: names.map((name) => ({ name, prefix: piece(`,${JSON.stringify(name)}:`) })),
  }
  preparedFor.set(reason.code, prepared)
  return prepared
}

/** The last field of an action, and its end. */
function writeReason(to: Uint8Array, start: number, reason: Reason): number {
  const { head, facts } = preparedFor.get(reason.code) ?? prepare(reason)
  let p = put(to, start, head)
  let i = 0
  for (const name in reason) {
    if (name === 'code') continue
    const prepared = facts[i++]
    if (prepared?.name !== name) return otherReason(to, start, reason)
    p = put(to, p, prepared.prefix)
    const fact = reason[name]!
    p = typeof fact === 'number' ? number(to, p, fact) : string(to, p, fact)
  }
  return i === facts.length ? put(to, p, reasonEnd) : otherReason(to, start, reason)
}

const reasonIs = piece(',"reason":')
const actionEnd = piece('}')

/** A reason with other facts than its code had before. */
function otherReason(to: Uint8Array, start: number, reason: Reason): number {
  return put(to, json(to, put(to, start, reasonIs), reason), actionEnd)
}
