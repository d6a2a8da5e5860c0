/**
 * Small jobs inside a slot: they arrive several at a time, and run one after another without a message in between.
 *
 * A job that changes the process must not influence another one. The whole check of the process takes longer than a small
 * job, so it runs once for a batch, and until then the answers of all jobs but the first are held back: the first one began
 * in a process that was checked. After each job a quick check finds most changes. If a check finds one, only the first
 * answer is sent; the worker ends the slot and gives the other jobs back.
 */
import {
  type DirectJob,
  FrameDecoder,
  type GiveBackReason,
  longestAnswerFrame,
  longestBody,
  longestJobFrame,
  longestText,
} from '../../wire/direct-frames.ts'
import { FrameWriter } from '../../wire/direct-writer.ts'
import type { Workload } from '../../workload/workload.ts'
import { receivedFieldsOf } from '../slots/answer-fields.ts'
import type { AnswerHead, Channel, FromSlot, ToSlot } from '../slots/frames.ts'
import { toAnswer } from './answer.ts'
import { compiledComparison } from './compiled-comparison.ts'
import { failureOf, loggedError } from './failure.ts'
import { checkedParams, jobContext } from './job-context.ts'
import type { ProcessState } from './process-state.ts'
import { SlotBody } from './request-body.ts'
import type { SlotMeter } from './slot-meter.ts'

/** A batch ends after this time: the answers of its jobs wait for its end. */
const batchMs = 2

const mostPlainFields = 100

/** As they were when the process started: a job may replace them. */
const nowMs = performance.now.bind(performance)
const { nextTick } = process
const nextTurn = setImmediate
const { parse, stringify } = JSON

interface SlotSide {
  channel: Channel<FromSlot, ToSlot>
  dataDir: string
  /** Undefined: nothing is metered. */
  meter: SlotMeter | undefined
  state: ProcessState
  workloads: ReadonlyMap<string, Workload>
}

export class SmallJobs {
  readonly #side: SlotSide
  readonly #waiting: DirectJob[] = []
  readonly #decoder = new FrameDecoder(longestJobFrame, (frame) => this.#waiting.push(frame.job()))
  readonly #writer = new FrameWriter()
  readonly #batch = new Batch()
  /** By content type, for answers that have no other headers. */
  readonly #plainFields = new Map<string, string>()
  readonly #encode = reusedBytes()
  readonly #sameValues: () => boolean
  readonly #runNext = () => this.#next()
  #isRunning = false
  #isUnfit = false

  constructor(side: SlotSide) {
    this.#side = side
    this.#sameValues = compiledComparison(...side.state.watched)
  }

  /** Throws a `ProtocolError` if the frames are malformed. */
  receive(frames: Buffer): void {
    this.#decoder.push(frames)
    if (this.#isRunning || this.#isUnfit || this.#waiting.length === 0) return
    this.#isRunning = true
    this.#batch.begin()
    this.#next()
  }

  #next(): void {
    void this.#run(this.#waiting.shift()!)
  }

  /** Never rejects. */
  async #run(job: DirectJob): Promise<void> {
    const { state, meter } = this.#side
    const startedAt = nowMs()
    meter?.begin(job.workload)
    const context = new SmallJob(job)
    let isFit: boolean
    try {
      isFit = await this.#answer(job, context, startedAt)
    } catch (error) {
      isFit = this.#fail(job, error, startedAt)
    }
    meter?.end()
    context.isOver = true
    this.#batch.count(job.workload, this.#writer.bytes)
    const isSame = isFit && state.looksSame(this.#sameValues)
    // A tick of its own: callbacks that the job left behind run before the next job, as if jobs came one by one.
    if (isSame && this.#waiting.length > 0 && nowMs() - this.#batch.startedAt < batchMs)
      nextTick(this.#runNext)
    else return this.#endBatch(isSame ? this.#batch.onlyWorkload : job.workload, isFit, isSame)
  }

  /** Returns false if the process cannot be used any more. */
  async #answer(job: DirectJob, context: SmallJob, startedAt: number): Promise<boolean> {
    const { workloads, dataDir, meter } = this.#side
    const workload = workloads.get(job.workload)
    if (!workload) return this.#giveBack(job, 'unsuited')
    const given = paramsOf(job)
    if (given === undefined) return this.#giveBack(job, 'params')
    const params = await checkedParams(workload, given.params)
    const value = await workload.run(params, context.open(dataDir, meter))
    const { head, body } = await toAnswer(value, this.#encode)
    if (!(body instanceof Uint8Array)) {
      // Nobody reads it: the job runs again elsewhere.
      await body[Symbol.asyncIterator]().return?.()
      return this.#giveBack(job, 'streamed')
    }
    const fields = this.#fields(head)
    if (body.length > longestBody || fields.length > longestText) return this.#giveBack(job, 'long-answer')
    this.#write(job, { outcome: 'result', status: head.status, fields, body }, startedAt)
    return true
  }

  #fail(job: DirectJob, error: unknown, startedAt: number): boolean {
    const { kind, ...failure } = failureOf(error, 'error')
    if (kind === 'limit') return !this.#giveBack(job, 'slot-ended')
    if (failure.status === undefined)
      console.error(`job ${job.job}: workload ${job.workload}: ${loggedError(error)}`)
    const body = Buffer.from(stringify(failure))
    if (body.length > longestBody) return this.#giveBack(job, 'long-answer')
    this.#write(job, { outcome: 'error', status: failure.status ?? 500, fields: '', body }, startedAt)
    return true
  }

  #write(
    { id }: DirectJob,
    answer: { outcome: 'result' | 'error'; status: number; fields: string; body: Uint8Array },
    startedAt: number,
  ): void {
    const { work = 0, tally } = this.#side.meter?.done() ?? {}
    this.#writer.answer(id, {
      ...answer,
      // As the general path sends it.
      work: Math.round(work),
      wallMs: nowMs() - startedAt,
      tally: tally ? stringify(tally) : '',
    })
  }

  #fields(head: AnswerHead): string {
    for (const _ in head.headers) return stringify(receivedFieldsOf(head))
    let text = this.#plainFields.get(head.contentType)
    if (text !== undefined) return text
    text = stringify(receivedFieldsOf(head))
    if (this.#plainFields.size < mostPlainFields) this.#plainFields.set(head.contentType, text)
    return text
  }

  #giveBack({ id }: DirectJob, reason: GiveBackReason): true {
    this.#writer.giveBack(id, reason)
    return true
  }

  /**
   * Sends the answers, and checks the process. The answer of a lone job is sent first. `workload`: whose jobs have changed
   * the process, if any have.
   */
  async #endBatch(workload: string | undefined, isFit: boolean, isSame: boolean): Promise<void> {
    const { state, channel } = this.#side
    const batch = this.#batch
    const isLone = batch.jobs === 1
    const answers = batch.withCpuTime(this.#writer.take())
    if (isLone) this.#send(answers)
    const changes = isSame && !state.hasHiddenChanges() ? [] : await state.settledChanges()
    if (!isFit || changes.length > 0) {
      this.#isUnfit = true
      if (!isLone) channel.sendSmall(answers.subarray(0, batch.firstBytes))
      channel.send({ type: 'unfit', workload, ...(changes.length > 0 && { changes }) })
      return
    }
    if (!isLone) this.#send(answers)
    this.#isRunning = this.#waiting.length > 0
    if (!this.#isRunning) return
    batch.begin()
    // Jobs that have arrived meanwhile join the next batch.
    nextTurn(this.#runNext)
  }

  #send(answers: Buffer): void {
    if (this.#side.channel.sendSmall(answers)) this.#writer.reuse()
  }
}

/** One job's part of its context. */
class SmallJob {
  isOver = false
  readonly #job: DirectJob

  constructor(job: DirectJob) {
    this.#job = job
  }

  open(dataDir: string, meter: SlotMeter | undefined) {
    return jobContext(
      { job: this.#job.job, attempt: 1 },
      {
        ...{ dataDir, meter },
        body: new SlotBody(false, () => {}),
        isOver: () => this.isOver,
        // It ends before anybody could look.
        progress() {},
        // Slots of small jobs are never paused.
        uninterrupted: async (fn) => fn(),
      },
    )
  }
}

/** Jobs whose answers are sent together. */
class Batch {
  jobs = 0
  /** Length of the first answer. */
  firstBytes = 0
  /** The workload of all jobs; undefined: they have several. */
  onlyWorkload: string | undefined
  startedAt = 0
  #startCpu = 0

  begin(): void {
    this.jobs = 0
    this.startedAt = nowMs()
    this.#startCpu = cpuMs()
  }

  /** A job has ended. `bytes`: length of all answers. */
  count(workload: string, bytes: number): void {
    if (++this.jobs === 1) {
      this.firstBytes = bytes
      this.onlyWorkload = workload
    } else if (this.onlyWorkload !== workload) this.onlyWorkload = undefined
  }

  /** Divides the CPU time of the batch among its jobs by their time: reading it for each job would cost more than some jobs. */
  withCpuTime(answers: Buffer): Buffer {
    const share = (cpuMs() - this.#startCpu) / (nowMs() - this.startedAt)
    const decoder = new FrameDecoder(longestAnswerFrame, (frame) => {
      frame.cpuMs = frame.wallMs * share
    })
    decoder.push(answers)
    return answers
  }
}

/** Encodes short text into memory that is used again for the next one. */
function reusedBytes(): (text: string) => Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(longestBody)
  // Three bytes at most for each character.
  return (text) => (3 * text.length > longestBody ? Buffer.from(text) : bytes.subarray(0, bytes.write(text)))
}

/** Of all threads. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Numbers that do not survive being written as JSON again: the general path does that. */
const unusualNumber = /[\d.][eE]|-0|\d{300}/

/** Undefined: not JSON. */
function paramsOf({ params }: DirectJob): { params: unknown } | undefined {
  try {
    const text = params.toString()
    const parsed: unknown = parse(text)
    return { params: unusualNumber.test(text) ? parse(stringify(parsed)) : parsed }
  } catch {
    return undefined
  }
}
