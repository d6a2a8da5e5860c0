/** One job inside a slot: calls the workload and sends its answer. */
import type { JobContext, Workload } from '../../workload/workload.ts'
import {
  type Channel,
  Credit,
  chunkBytes,
  type FromSlot,
  pieces,
  type SlotFailure,
  type ToSlot,
  windowBytes,
} from '../slots/frames.ts'
import { toAnswer } from './answer.ts'
import { failureOf, loggedError } from './failure.ts'
import { checkedParams, jobContext } from './job-context.ts'
import type { ProcessState } from './process-state.ts'
import { SlotBody } from './request-body.ts'
import type { SlotMeter } from './slot-meter.ts'

/** Minimum interval between progress messages. */
const progressMs = 100

type JobMessage = Extract<ToSlot, { type: 'job' }>

interface SlotSide {
  channel: Channel<FromSlot, ToSlot>
  dataDir: string
  /** Undefined: nothing is metered. */
  meter: SlotMeter | undefined
  /** What jobs must leave as it is. */
  state: ProcessState
}

export class SlotJob {
  readonly body: SlotBody
  readonly #message: JobMessage
  readonly #channel: Channel<FromSlot, ToSlot>
  readonly #dataDir: string
  readonly #meter: SlotMeter | undefined
  readonly #state: ProcessState
  readonly #credit = new Credit(windowBytes)
  readonly #startCpuMs = cpuMsUsed()
  #over = false
  #progressAt = -progressMs
  #holders = 0
  #held: PromiseWithResolvers<void> | undefined

  constructor(message: JobMessage, { channel, dataDir, meter, state }: SlotSide) {
    this.#message = message
    this.#channel = channel
    this.#dataDir = dataDir
    this.#meter = meter
    this.#state = state
    this.body = new SlotBody(message.hasBody, (bytes) => this.#send({ type: 'credit', bytes }))
  }

  receive(message: Exclude<ToSlot, JobMessage>): void {
    if (message.type === 'credit') this.#credit.grant(message.bytes)
    else if (message.type === 'held') this.#held?.resolve()
    else this.body.end(message.error)
  }

  /** Never rejects: failures are part of the `end` message. */
  async run(workload: Workload | undefined): Promise<void> {
    this.#send({ type: 'begun', cpuMs: this.#startCpuMs })
    const { workload: name, tallies } = this.#message
    this.#meter?.begin(name, (message) => this.#sendLatest(message), tallies)
    let failure: SlotFailure | undefined
    try {
      if (!workload) throw new Error(`unknown workload ${this.#message.workload}`)
      await this.#answer(
        await workload.run(await checkedParams(workload, this.#message.params), this.#context()),
      )
    } catch (error) {
      failure = failureOf(error, 'error')
      // The worker logs what a slot prints, with the job's id.
      if (failure.kind === 'error' && failure.status === undefined)
        console.error(`workload ${name}: ${loggedError(error)}`)
    }
    const cpuMs = cpuMsUsed() - this.#startCpuMs
    const maxRssMb = process.resourceUsage().maxRSS / 1024
    const done = this.#meter?.done()
    this.#meter?.end()
    const changes = await this.#state.settledChanges()
    const left = changes.length > 0 && { changes }
    this.#send({ type: 'end', cpuMs, maxRssMb, ...done, ...(failure && { failure }), ...left })
    this.#over = true
  }

  async #answer(value: unknown): Promise<void> {
    const { head, body } = await toAnswer(value)
    if (body instanceof Uint8Array && body.length <= chunkBytes) {
      this.#channel.send({ type: 'head', ...head }, body)
      return
    }
    this.#channel.send({ type: 'head', ...head })
    for await (const bytes of body instanceof Uint8Array ? [body] : body) {
      for (const piece of pieces(bytes)) {
        await this.#credit.take(piece.length)
        this.#channel.send(piece)
      }
    }
  }

  #context(): JobContext {
    return jobContext(this.#message, {
      dataDir: this.#dataDir,
      body: this.body,
      meter: this.#meter,
      isOver: () => this.#over,
      progress: (fraction) => {
        // Each message costs the worker a tenth of a millisecond, so their rate is limited.
        const now = performance.now()
        if (now - this.#progressAt < progressMs) return
        this.#progressAt = now
        this.#sendLatest({ type: 'progress', fraction })
      },
      uninterrupted: (fn) => this.#uninterrupted(fn),
    })
  }

  /** Waits for the pool's confirmation before it calls `fn`: a stop may already be on its way. */
  async #uninterrupted<T>(fn: () => T | Promise<T>): Promise<T> {
    if (this.#holders++ === 0) {
      this.#held = Promise.withResolvers()
      this.#send({ type: 'hold' })
    }
    try {
      await this.#held!.promise
      return await fn()
    } finally {
      if (--this.#holders === 0) this.#send({ type: 'release' })
    }
  }

  /** Only the latest of these messages matters, so a message that cannot be sent at once is dropped. */
  #sendLatest(message: FromSlot): void {
    if (!this.#channel.congested) this.#send(message)
  }

  /** Code that keeps running after its job ended must not send messages for the next job. */
  #send(message: FromSlot): void {
    if (!this.#over) this.#channel.send(message)
  }
}

/** CPU time of all threads of this process, including garbage collection and compilation. */
export function cpuMsUsed(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
