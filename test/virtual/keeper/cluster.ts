/** The cluster as keepers know it: fronts that take requests, run them with a brain and workers, answer and die. */

import type { JobResponse, SendParts } from '../../../src/keeper/send-job.ts'
import type { Random } from '../../../src/lib/random.ts'
import type { StoredJob } from '../../../src/store/store.ts'
import type { VirtualProcess, VirtualTime } from '../time.ts'
import { lateText, longText, unknownText } from './answers.ts'
import type { Judge } from './judge.ts'
import { bodyOf, type RequestPlan } from './plan.ts'

interface Front {
  port: number
  isAlive: boolean
  /** False: keepers have been told that it has ended. */
  isListed: boolean
  attempts: Set<Attempt>
}

/** One request on a connection from a keeper. */
interface Attempt {
  process: VirtualProcess
  job: StoredJob
  parts: SendParts
  response: PromiseWithResolvers<JobResponse>
  /** Neither side has ended it. */
  isOpen: boolean
}

export interface ClusterParts {
  time: VirtualTime
  judge: Judge
  random: Random
  isCalm: boolean
  /** Part of the answers that are long. */
  longAnswers: number
  request(target: string): RequestPlan
}

/** From 0 to 1: what happens to a request at a front, beside what faults do. */
const odds = { refused: 0.08, deadline: 0.02, cutOff: 0.05, brokenBody: 0.04 }
const longParts = [Buffer.from(longText.slice(0, -1)), Buffer.from('.')]

export class Cluster {
  readonly #parts: ClusterParts
  readonly #fronts: Front[]
  #jobs = 0
  /** The brain is away, or refuses, until then. */
  brainBack = 0
  busyUntil = 0

  constructor(parts: ClusterParts) {
    this.#parts = parts
    const count = 1 + parts.random.below(3)
    this.#fronts = Array.from({ length: count }, (_, index) => ({
      ...{ port: 9_000 + index, isAlive: true, isListed: true, attempts: new Set() },
    }))
  }

  ports(): number[] {
    return this.#fronts.filter(({ isListed }) => isListed).map(({ port }) => port)
  }

  /** Connections that neither side has ended. */
  openOf(process: VirtualProcess): number {
    const attempts = this.#fronts.flatMap((front) => [...front.attempts])
    return attempts.filter((attempt) => attempt.isOpen && attempt.process === process).length
  }

  killFront(which: number, ms: number): void {
    const { time, random } = this.#parts
    const front = this.#fronts[Math.floor(which * this.#fronts.length)]!
    if (!front.isAlive) return
    front.isAlive = false
    for (const attempt of [...front.attempts]) this.#cutOff(front, attempt)
    time.plan(time.now + random.next() * 300, () => {
      front.isListed = front.isAlive
    })
    time.plan(time.now + ms, () => Object.assign(front, { isAlive: true, isListed: true }))
  }

  send(process: VirtualProcess, parts: SendParts): Promise<JobResponse> {
    const { judge, time, random } = this.#parts
    const job = parts.job as StoredJob
    judge.sent(process, job)
    const front = this.#fronts.find(({ port }) => port === parts.port)!
    const attempt: Attempt = { process, job, parts, response: Promise.withResolvers(), isOpen: true }
    front.attempts.add(attempt)
    parts.signal.addEventListener('abort', () => this.#abort(front, attempt))
    if (parts.signal.aborted) this.#abort(front, attempt)
    void this.#receive(attempt).then(() =>
      time.plan(time.now + 0.2 + random.exponential(), () => this.#arrive(front, attempt)),
    )
    return attempt.response.promise
  }

  /** The keeper reads the body from the store while it sends it. */
  async #receive({ parts: { body, job } }: Attempt): Promise<void> {
    const bytes = Buffer.concat(body ? await Array.fromAsync(body) : [])
    const expected = bodyOf(this.#parts.request(job.target))
    if (!bytes.equals(expected)) this.#parts.judge.fail(`the body of ${job.target} has changed`)
  }

  #abort(front: Front, attempt: Attempt): void {
    front.attempts.delete(attempt)
    attempt.isOpen = false
    attempt.response.reject(new Error('aborted'))
  }

  /** The keeper sees the connection end. */
  #cutOff(front: Front, attempt: Attempt, code = 'ECONNRESET'): void {
    const { time, random } = this.#parts
    front.attempts.delete(attempt)
    attempt.isOpen = false
    const error = Object.assign(new Error(code), { code })
    time.schedule(time.now + random.next() * 5, 'input', attempt.process, () =>
      attempt.response.reject(error),
    )
  }

  #arrive(front: Front, attempt: Attempt): void {
    const { time, random, isCalm } = this.#parts
    if (!front.isAlive) return this.#cutOff(front, attempt, 'ECONNREFUSED')
    if (!this.#isOurs(front, attempt)) return
    const draw = isCalm ? 1 : random.next()
    if (time.now < this.busyUntil || draw < odds.refused) return this.#refuse(front, attempt)
    if (draw < odds.refused + odds.deadline) return this.#reply(front, attempt, lateText, 503, 'deadline')
    this.#run(front, attempt)
  }

  /** Neither side has ended the connection; a process that died did. */
  #isOurs(front: Front, attempt: Attempt): boolean {
    if (!attempt.process.alive) {
      front.attempts.delete(attempt)
      attempt.isOpen = false
    }
    return attempt.isOpen
  }

  #refuse(front: Front, attempt: Attempt): void {
    const codes = ['queue-full', 'rate-limit', 'overloaded', 'no-brain', 'stopping']
    this.#reply(front, attempt, 'refused', 503, codes[this.#parts.random.below(codes.length)])
  }

  #run(front: Front, attempt: Attempt): void {
    const { time, random, judge, isCalm } = this.#parts
    // Fronts hold requests while the brain is away.
    if (time.now < this.brainBack)
      return time.plan(this.brainBack + random.next() * 100, () => {
        if (this.#isOurs(front, attempt)) this.#run(front, attempt)
      })
    const run = ++this.#jobs
    judge.ran(attempt.job.id)
    this.#announce(attempt, run)
    const cutOffAt = !isCalm && random.next() < odds.cutOff ? random.next() : Infinity
    const ms = 20 + random.exponential() * 1_500
    if (cutOffAt < 1)
      time.plan(time.now + ms * cutOffAt, () => {
        if (this.#isOurs(front, attempt)) this.#cutOff(front, attempt)
      })
    else time.plan(time.now + ms, () => this.#done(front, attempt, run))
  }

  #announce({ process, parts }: Attempt, run: number): void {
    const { time } = this.#parts
    time.schedule(time.now + 0.3, 'input', process, () => parts.onJob(`j${run}`))
  }

  #done(front: Front, attempt: Attempt, run: number): void {
    const { time, random, judge } = this.#parts
    if (!this.#isOurs(front, attempt)) return
    const { id, isRepeatable } = attempt.job
    // The answer is there, or the brain's successor gets the request again.
    if (time.now < this.brainBack) {
      const isLost = random.next() < 0.4
      if (!isLost) return time.plan(this.brainBack, () => this.#done(front, attempt, run))
      if (!isRepeatable) return this.#reply(front, attempt, unknownText, 502, 'outcome-unknown')
      judge.log(() => `run of ${id} is lost with the brain`)
      return this.#run(front, attempt)
    }
    this.#reply(front, attempt, `${attempt.job.target} by run ${run}`, random.next() < 0.1 ? 500 : 200)
  }

  #reply(front: Front, attempt: Attempt, text: string, status: number, refusal?: string): void {
    const { time, random, isCalm, longAnswers } = this.#parts
    const isLong = refusal === undefined && random.next() < longAnswers
    const parts = [Buffer.from(text), ...(isLong ? longParts : [])]
    const isBroken = !isCalm && refusal === undefined && random.next() < odds.brokenBody
    const body = this.#body(front, attempt, parts, isBroken)
    const response: JobResponse = {
      ...{ status, fields: [['plimsoll-attempts', '1']], body },
      ...(refusal !== undefined && { refusal }),
      ...(random.next() < 0.3 && { retryAfter: random.below(5) }),
    }
    time.schedule(time.now + 0.3, 'input', attempt.process, () => attempt.response.resolve(response))
  }

  async *#body(front: Front, attempt: Attempt, parts: Buffer[], isBroken: boolean): AsyncGenerator<Buffer> {
    const { time, random } = this.#parts
    for (const [index, part] of parts.entries()) {
      await new Promise<void>((resolve, reject) =>
        time.schedule(time.now + random.next() * 2, 'input', attempt.process, () => {
          if (isBroken && index === parts.length - 1) this.#cutOff(front, attempt)
          if (attempt.isOpen) resolve()
          else reject(new Error('ECONNRESET'))
        }),
      )
      yield part
    }
    front.attempts.delete(attempt)
    attempt.isOpen = false
  }
}
