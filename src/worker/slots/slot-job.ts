/** One job inside a slot: calls the workload and sends what comes of it. */
import { check } from '../../workload/standard-schema.ts'
import type { JobContext, Workload } from '../../workload/workload.ts'
import { toAnswer } from './answer.ts'
import {
  type Channel,
  Credit,
  chunkBytes,
  type FromSlot,
  pieces,
  type SlotFailure,
  type ToSlot,
  windowBytes,
} from './frames.ts'
import { SlotBody } from './slot-body.ts'
import type { SlotMeter } from './slot-meter.ts'

/** Progress is passed on at most this often. */
const progressMs = 100

type JobMessage = Extract<ToSlot, { type: 'job' }>

interface SlotSide {
  channel: Channel<FromSlot, ToSlot>
  dataDir: string
  /** None: nothing is metered. */
  meter: SlotMeter | undefined
}

export class SlotJob {
  readonly body: SlotBody
  readonly #message: JobMessage
  readonly #channel: Channel<FromSlot, ToSlot>
  readonly #dataDir: string
  readonly #meter: SlotMeter | undefined
  readonly #credit = new Credit(windowBytes)
  readonly #startCpuMs = cpuMsUsed()
  #over = false
  #progressAt = -progressMs
  #holders = 0
  #held: PromiseWithResolvers<void> | undefined

  constructor(message: JobMessage, { channel, dataDir, meter }: SlotSide) {
    this.#message = message
    this.#channel = channel
    this.#dataDir = dataDir
    this.#meter = meter
    this.body = new SlotBody(message.hasBody, (bytes) => this.#send({ type: 'credit', bytes }))
  }

  receive(message: Exclude<ToSlot, JobMessage>): void {
    if (message.type === 'credit') this.#credit.grant(message.bytes)
    else if (message.type === 'held') this.#held?.resolve()
    else this.body.end(message.error)
  }

  /** Never rejects: the end it sends tells how it went. */
  async run(workload: Workload | undefined): Promise<void> {
    this.#send({ type: 'begun', cpuMs: this.#startCpuMs })
    const { workload: name, tallies } = this.#message
    this.#meter?.begin(name, (message) => this.#tell(message), tallies)
    let failure: SlotFailure | undefined
    try {
      if (!workload) throw new Error(`there is no workload ${this.#message.workload}`)
      await this.#answer(await workload.run(await this.#params(workload), this.#context()))
    } catch (error) {
      failure = failureOf(error, 'error')
    }
    const cpuMs = cpuMsUsed() - this.#startCpuMs
    const maxRssMb = process.resourceUsage().maxRSS / 1024
    this.#send({ type: 'end', cpuMs, maxRssMb, ...this.#meter?.done(), ...(failure && { failure }) })
    this.#meter?.end()
    this.#over = true
  }

  /** Checked here even if the front did: a schema may yield what JSON cannot carry, such as dates. */
  async #params(workload: Workload): Promise<unknown> {
    if (!workload.params) return this.#message.params
    const checked = await check(workload.params, this.#message.params)
    if ('value' in checked) return checked.value
    throw Object.assign(new Error(checked.issues.join('; ')), { status: 400 })
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
    return {
      jobId: this.#message.job,
      attempt: this.#message.attempt,
      dataDir: this.#dataDir,
      body: this.body,
      progress: (fraction) => {
        if (typeof fraction !== 'number' || Number.isNaN(fraction)) {
          throw new TypeError(`progress(${fraction}): must be a number from 0 to 1`)
        }
        // Workloads say it as often as they like; each word of it costs the worker a tenth of a millisecond.
        const now = performance.now()
        if (now - this.#progressAt < progressMs) return
        this.#progressAt = now
        this.#tell({ type: 'progress', fraction: Math.min(1, Math.max(0, fraction)) })
      },
      charge: (units) => {
        if (typeof units !== 'number' || !(units >= 0 && units < Infinity)) {
          throw new TypeError(`charge(${units}): must be a finite number, 0 or more`)
        }
        if (!this.#over) this.#meter?.charge(units)
      },
      steps: (count) => {
        if (typeof count !== 'number' || !(count >= 0 && count < Infinity)) {
          throw new TypeError(`steps(${count}): must be a finite number, 0 or more`)
        }
        if (!this.#over) this.#meter?.steps(count)
      },
      uninterrupted: (fn) => this.#uninterrupted(fn),
      log: (...values) => console.log(...values),
    }
  }

  /** Waits for the pool's word before `fn` begins: a stop may already be on its way. */
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

  /** Of these only the latest matters: one that cannot go out at once is left out. */
  #tell(message: FromSlot): void {
    if (!this.#channel.congested) this.#send(message)
  }

  /** Code that runs on after its job ended must not speak for the next one. */
  #send(message: FromSlot): void {
    if (!this.#over) this.#channel.send(message)
  }
}

/** CPU time of all threads of this process, those of the collector and of the compiler included. */
export function cpuMsUsed(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export function failureOf(error: unknown, kind: 'error' | 'crash'): SlotFailure {
  const message = error instanceof Error ? error.message : String(error)
  // The pool's hard stop made an allocation fail; where it is large, that is an exception and not the end.
  if (error instanceof Error && /^(Array buffer allocation failed|Failed to allocate memory)/.test(message)) {
    return { kind: 'limit', message }
  }
  const status = (error as { status?: unknown } | null | undefined)?.status
  const known = typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599
  return { kind, message: message || 'the workload failed without a message', ...(known && { status }) }
}
