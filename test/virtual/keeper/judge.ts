/** Judges a run: what was promised to the client of each job, to receivers of webhooks, and among keepers. */

import type { NewJob, StoredJob, Webhook } from '../../../src/store/store.ts'
import type { VirtualProcess } from '../time.ts'
import { lateText, longText } from './answers.ts'
import type { Plan, RequestPlan } from './plan.ts'

export interface KeeperCounts {
  accepted: number
  answered: number
  cancelled: number
  unknown: number
  /** Requests that were sent to fronts, and runs that began there. */
  sent: number
  runs: number
  repeated: number
  fenced: number
  posts: number
  faults: number
}

interface JudgedJob {
  target: string
  isRepeatable: boolean
  startNoted: boolean
  runs: number
  end?: { at: number; state: 'answered' | 'cancelled'; content: string }
  /** When the store noted that its webhook was delivered, or is not wanted. */
  toldAt?: number
  confirmed: number
}

/** What a process has learned. */
interface Knowledge {
  epoch: number
  since: number
  readAt: Map<string, number>
  webhooksReadAt: number
  ends: Set<string>
  /** Webhooks that were confirmed to it, and webhooks that it is sending. */
  confirmed: Set<string>
  posting: Set<string>
  isFenced: boolean
  /** Its deliveries of webhooks have learned it too. */
  areWebhooksFenced: boolean
}

export class Judge {
  readonly #now: () => number
  readonly #isCalm: boolean
  /** No clock of the store is wrong, so leases last as long as their holders believe. */
  readonly #areLeasesRight: boolean
  readonly #jobs = new Map<string, JudgedJob>()
  readonly #knowledge = new Map<VirtualProcess, Knowledge>()
  /** Jobs whose acceptance a client was told, by the number of the request. */
  readonly #acknowledged = new Map<number, string>()
  #epoch = 0
  readonly failures: string[] = []
  readonly #lines: string[] | undefined
  readonly counts: KeeperCounts = {
    ...{ accepted: 0, answered: 0, cancelled: 0, unknown: 0, sent: 0, runs: 0 },
    ...{ repeated: 0, fenced: 0, posts: 0, faults: 0 },
  }

  /** `lines`: where events are logged. */
  constructor(now: () => number, { isCalm, faults }: Plan, lines: string[] | undefined) {
    this.#now = now
    this.#isCalm = isCalm
    this.#areLeasesRight = faults.every(({ kind }) => kind !== 'store-clock')
    this.#lines = lines
  }

  log(line: () => string): void {
    this.#lines?.push(`${(this.#now() / 1000).toFixed(3).padStart(8)} ${line()}`)
  }

  fail(why: string): void {
    this.log(() => `FAILED: ${why}`)
    this.failures.push(`${(this.#now() / 1000).toFixed(3)} s: ${why}`)
  }

  uncaught(process: VirtualProcess | undefined, error: unknown): void {
    this.fail(`${process?.name ?? 'the world'} died of ${(error as Error)?.stack ?? String(error)}`)
  }

  get ids(): Iterable<string> {
    return this.#jobs.keys()
  }

  endOf(id: string): JudgedJob['end'] {
    return this.#jobs.get(id)?.end
  }

  // What the store has carried out.

  led(epoch: number): void {
    this.#epoch = Math.max(this.#epoch, epoch)
  }

  /** A write has succeeded. */
  wrote(epoch: number, what: string): void {
    if (epoch < this.#epoch) this.fail(`a keeper of epoch ${epoch} ${what}, but epoch ${this.#epoch} leads`)
  }

  #job(id: string): JudgedJob {
    const job = this.#jobs.get(id)
    if (job) return job
    this.fail(`job ${id} is not in the store`)
    return { target: '', isRepeatable: true, startNoted: true, runs: 0, confirmed: 0 }
  }

  accepted({ id, isRepeatable, request: { target } }: NewJob): void {
    if (this.#jobs.has(id)) return
    this.counts.accepted++
    this.#jobs.set(id, { target, isRepeatable, startNoted: false, runs: 0, confirmed: 0 })
  }

  ended(id: string, state: 'answered' | 'cancelled', content: string): void {
    const job = this.#job(id)
    if (job.end) this.fail(`job ${id} ended as ${state}, but had ended as ${job.end.state}`)
    job.end ??= { at: this.#now(), state, content }
    if (state === 'cancelled') this.counts.cancelled++
    else this.counts.answered++
    if (state === 'answered' && !isAnswerOf(content, job))
      this.fail(`job ${id} has the answer ${content.slice(0, 80)}`)
    if (/outcome-unknown/.test(content)) this.#unknownOutcome(id, job)
  }

  #unknownOutcome(id: string, { isRepeatable }: JudgedJob): void {
    this.counts.unknown++
    if (isRepeatable) this.fail(`job ${id} may be repeated, but its outcome is unknown`)
    if (this.#isCalm) this.fail(`job ${id} has an unknown outcome, without a fault`)
  }

  notedStart(id: string): void {
    const job = this.#jobs.get(id)
    if (job) job.startNoted = true
  }

  notedWebhook(id: string, { state }: Webhook): void {
    const job = this.#job(id)
    if (state !== 'waiting') job.toldAt ??= this.#now()
    if (state === 'delivered' && job.confirmed === 0)
      this.fail(`the webhook of job ${id} is noted as delivered, but nobody has confirmed it`)
  }

  // What processes know and do.

  #of(process: VirtualProcess): Knowledge {
    const known = this.#knowledge.get(process) ?? this.#nothing(0)
    this.#knowledge.set(process, known)
    return known
  }

  #nothing(epoch: number): Knowledge {
    return {
      ...{ epoch, since: this.#now(), readAt: new Map(), webhooksReadAt: 0, ends: new Set() },
      ...{ confirmed: new Set(), posting: new Set() },
      ...{ isFenced: false, areWebhooksFenced: false },
    }
  }

  /** A term begins: what was learned in earlier ones is gone from memory. */
  began(process: VirtualProcess, epoch: number): void {
    this.#knowledge.set(process, this.#nothing(epoch))
  }

  /** What the process knows in the present term. */
  termOf(process: VirtualProcess): Pick<Knowledge, 'isFenced' | 'areWebhooksFenced'> {
    return this.#of(process)
  }

  learnedFenced(term: ReturnType<Judge['termOf']>, byWebhook: boolean): void {
    if (byWebhook) term.areWebhooksFenced = true
    else term.isFenced = true
    this.counts.fenced++
  }

  knowsEnd(process: VirtualProcess, id: string): void {
    this.#of(process).ends.add(id)
  }

  read(process: VirtualProcess, id: string): void {
    this.#of(process).readAt.set(id, this.#now())
  }

  readWebhooks(process: VirtualProcess): void {
    this.#of(process).webhooksReadAt = this.#now()
  }

  sent(process: VirtualProcess, { id }: Pick<StoredJob, 'id'>): void {
    this.counts.sent++
    this.log(() => `${process.name}: sends ${id}`)
    const { end, startNoted, isRepeatable } = this.#job(id)
    const { epoch, since, readAt, ends, isFenced } = this.#of(process)
    if (epoch < this.#epoch && this.#areLeasesRight)
      this.fail(`${process.name} sent job ${id} after another keeper had begun to lead`)
    if (isFenced) this.fail(`${process.name} sent job ${id}, although it knew that another keeper leads`)
    if (!isRepeatable && !startNoted) this.fail(`job ${id} was sent before its start was noted`)
    if (!end) return
    const knewAt = Math.max(since, readAt.get(id) ?? 0)
    if (ends.has(id) || end.at <= knewAt) this.fail(`job ${id} was sent after it had ended (${end.state})`)
  }

  /** A front has given the job to a worker. */
  ran(id: string): void {
    this.counts.runs++
    const job = this.#job(id)
    job.runs++
    this.log(() => `run ${job.runs} of ${id}`)
    if (job.runs > 1 && !job.isRepeatable) this.fail(`job ${id}, which must not be repeated, ran twice`)
    if (job.runs > 1 && this.#isCalm) this.fail(`job ${id} ran twice, without a fault`)
  }

  posts(process: VirtualProcess, id: string): void {
    const { confirmed, posting, webhooksReadAt, areWebhooksFenced } = this.#of(process)
    const { end, toldAt } = this.#job(id)
    if (!end) this.fail(`the webhook of job ${id} was sent before the job had ended`)
    if (confirmed.has(id)) this.fail(`the webhook of job ${id} was sent again after it was confirmed`)
    if (posting.has(id)) this.fail(`the webhook of job ${id} was sent twice at the same time`)
    if (areWebhooksFenced)
      this.fail(`${process.name} sent a webhook, although it knew that another keeper leads`)
    if (toldAt !== undefined && toldAt <= webhooksReadAt)
      this.fail(`the webhook of job ${id} was sent after its delivery was noted`)
    posting.add(id)
  }

  /** A message has arrived. */
  posted(id: string, state: string, isConfirmed: boolean): void {
    this.counts.posts++
    const job = this.#job(id)
    this.log(() => `webhook of ${id}: ${state}${isConfirmed ? ', confirmed' : ''}`)
    if (job.end?.state !== state) this.fail(`the webhook of job ${id} reports ${state}: ${job.end?.state}`)
    if (isConfirmed) job.confirmed++
    if (job.confirmed > 1 && this.#isCalm)
      this.fail(`the webhook of job ${id} arrived twice, without a fault`)
  }

  postEnded(process: VirtualProcess, id: string, isConfirmed: boolean): void {
    const { posting, confirmed } = this.#of(process)
    posting.delete(id)
    if (isConfirmed) confirmed.add(id)
  }

  // What clients see.

  /** The client is told that its request is accepted. */
  acknowledged({ number }: RequestPlan, id: string, isRepeat: boolean): void {
    if (isRepeat) this.counts.repeated++
    this.log(() => `client: request ${number} is job ${id}${isRepeat ? ', a repeat' : ''}`)
    if (!this.#jobs.has(id)) this.fail(`request ${number} was accepted as ${id}, but is not stored`)
    const first = this.#acknowledged.get(number)
    if (first !== undefined && first !== id) this.fail(`request ${number} has two jobs: ${first} and ${id}`)
    this.#acknowledged.set(number, id)
  }

  idOf({ number }: RequestPlan): string | undefined {
    return this.#acknowledged.get(number)
  }

  /** `seen`: status and body of its result; undefined: it has none. */
  saw(id: string, seen: string | undefined, isOpen: boolean): void {
    const end = this.endOf(id)
    if (isOpen) this.fail(`job ${id} is open, but who waited for its end was told that it has ended`)
    else if (!end) this.fail(`job ${id} has ended, but nothing in the store says so`)
    else if (end.state === 'answered' && seen !== end.content)
      this.fail(
        `the result of job ${id} is ${seen?.slice(0, 80)}, but was stored as ${end.content.slice(0, 80)}`,
      )
  }

  conflicted({ number }: RequestPlan, isExpected: boolean): void {
    if (!isExpected) this.fail(`request ${number} was refused: its key belongs to another request`)
  }

  cancelled(id: string, isFirst: boolean): void {
    const end = this.endOf(id)
    if (!end) this.fail(`job ${id} is told to be ${isFirst ? 'cancelled' : 'over'}, but is open in the store`)
    else if (isFirst && end.state !== 'cancelled')
      this.fail(`job ${id} is told to be cancelled, but ${end.state}`)
  }
}

/** A result of one of its runs, complete; or a refusal that would come again, or an outcome that nobody knows. */
function isAnswerOf(content: string, { target }: JudgedJob): boolean {
  const [status = '', ...words] = content.split(' ')
  const text = words.join(' ')
  if (status === '503') return text === lateText
  if (status === '502') return /outcome-unknown/.test(text)
  const [rest] = text.startsWith(`${target} by run `) ? [text.slice(target.length + 8)] : []
  return rest !== undefined && /^\d+$/.test(rest.replace(longText, ''))
}
