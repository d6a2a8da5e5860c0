/** A virtual worker process: the real supervisor and the real protocol, around jobs that only pass time. */

import type { Duplex } from 'node:stream'
import { Readable } from 'node:stream'
import { disciplines } from '../../src/model/discipline.ts'
import { type Line, lines } from '../../src/wire/lines.ts'
import { type AttemptHead, type FromBrain, type FromWorker, wireVersion } from '../../src/wire/messages.ts'
import type { JobPool } from '../../src/worker/job-pool.ts'
import type { JobAnswer, JobRequest, JobRun, JobUsage } from '../../src/worker/job-run.ts'
import { nominalRate } from '../../src/worker/rates.ts'
import { Supervisor } from '../../src/worker/supervisor.ts'
import type { VirtualNetwork } from './network.ts'
import type { VirtualProcess } from './time.ts'

/** Delay between attempts to reconnect to the brain. */
const reconnectEveryMs = 250

export interface WorkerProcessParts {
  process: VirtualProcess
  network: VirtualNetwork
  brainAddress: string
  id: string
  /** Undefined: somebody else runs it. */
  launch: string | undefined
  port: number
  cores: number
  slots: number
  /** A job starts. */
  started(params: JobParams): void
  /** The worker ends by itself, with the reason. */
  exit(why: string): void
}

/** What a virtual job does. */
export interface JobParams {
  request: number
  runMs: number
}

/** How a worker answers a front. */
export interface VirtualAnswer {
  outcome: 'result' | 'refused' | 'cancelled'
  message?: string
  value?: number
  cpuMs?: number
}

/** The right result of a request. */
export function resultOf(request: number): number {
  return request * 7 + 3
}

export class WorkerProcess {
  readonly #parts: WorkerProcessParts
  readonly #supervisor: Supervisor
  #line: Line<FromWorker> | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #seq = 0

  constructor(parts: WorkerProcessParts) {
    this.#parts = parts
    const pool = virtualPool((params) => parts.started(params))
    const { cores, slots } = parts
    const send = (message: FromWorker) => this.#line?.send(message)
    this.#supervisor = new Supervisor({ pool, cores, slots, meter: 'off', send }, disciplines.srpt)
    parts.network.listen(`:${parts.port}`, parts.process, (socket) => this.#serve(socket))
    this.#join()
  }

  /** Attempts that it holds. */
  get held(): number {
    return this.#supervisor.report().length
  }

  #serve(socket: Duplex): void {
    let cancel = () => {}
    const line: Line<VirtualAnswer> = lines<AttemptHead, VirtualAnswer>(
      socket,
      (head) => {
        const taken = this.#supervisor.take(head)
        if ('refused' in taken) return line.send({ outcome: 'refused', message: taken.refused })
        cancel = () => taken.cancel()
        void taken.answer.then(async (answer) => {
          const { cpuMs } = await taken.usage
          const value = resultOf((head.params as JobParams).request)
          line.send(answer.kind === 'result' ? { outcome: 'result', value, cpuMs } : { outcome: 'cancelled' })
          line.close()
        })
      },
      () => cancel(),
    )
  }

  async #join(): Promise<void> {
    const { network, process, brainAddress, id, launch, port, cores, slots } = this.#parts
    try {
      const socket = await network.connect(process, brainAddress)
      this.#line = lines<FromBrain, FromWorker>(
        socket,
        (message) => this.#receive(message),
        () => this.#broken(),
      )
    } catch {
      return this.#broken()
    }
    const workPerSecond = nominalRate('off') * 1000
    this.#line.send({
      type: 'hello',
      version: wireVersion,
      worker: { id, cores, workPerSecond, memoryMb: 4096, slots },
      ...(launch !== undefined && { launch }),
      pid: port,
      address: { host: 'virtual', port },
      code: {},
      seq: ++this.#seq,
      held: this.#supervisor.report(),
    })
  }

  #broken(): void {
    this.#line = undefined
    clearInterval(this.#heartbeat)
    setTimeout(() => void this.#join(), reconnectEveryMs)
  }

  #receive(message: FromBrain): void {
    switch (message.type) {
      case 'welcome':
        this.#supervisor.discipline = disciplines[message.discipline]
        clearInterval(this.#heartbeat)
        this.#heartbeat = setInterval(() => {
          const held = this.#supervisor.report()
          this.#line?.send({ type: 'report', seq: ++this.#seq, held, cpuMs: 0 })
          this.#supervisor.askAgain()
        }, message.beatMs)
        return
      case 'go':
        return this.#supervisor.go(message)
      case 'cancel':
        return this.#supervisor.cancel(message)
      case 'rank':
        return this.#supervisor.rank(message, message.precedence)
      case 'end':
        return this.#parts.exit('told to end')
      case 'refused':
        return this.#parts.exit(message.message)
    }
  }
}

function virtualPool(started: (params: JobParams) => void): JobPool {
  return {
    size: 0,
    ready: () => Promise.resolve(),
    start: (job) => new VirtualRun(job, started),
    close: () => Promise.resolve(),
  }
}

/** Uses a core for `runMs` while it is not paused. */
class VirtualRun implements JobRun {
  readonly #answer = Promise.withResolvers<JobAnswer>()
  readonly #ended = Promise.withResolvers<JobUsage>()
  readonly #runMs: number
  readonly #began = performance.now()
  #doneMs = 0
  #since = performance.now()
  #timer: NodeJS.Timeout | undefined
  #over = false
  paused = false
  readonly interruptible = true
  readonly progress = undefined
  readonly pid = undefined

  constructor({ params }: JobRequest, started: (params: JobParams) => void) {
    const job = params as JobParams
    this.#runMs = job.runMs
    started(job)
    this.#continue()
  }

  get answer(): Promise<JobAnswer> {
    return this.#answer.promise
  }

  get ended(): Promise<JobUsage> {
    return this.#ended.promise
  }

  pause(): void {
    if (this.paused || this.#over) return
    this.#doneMs = this.cpuMs()
    this.paused = true
    clearTimeout(this.#timer)
  }

  resume(): void {
    if (!this.paused || this.#over) return
    this.paused = false
    this.#continue()
  }

  cancel(): void {
    this.#end({ kind: 'cancelled' })
  }

  cpuMs(): number {
    return this.#doneMs + (this.paused || this.#over ? 0 : performance.now() - this.#since)
  }

  exceed(): void {
    this.cancel()
  }

  moved(): boolean {
    return false
  }

  work(): undefined {}

  #continue(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(
      () => this.#end({ kind: 'result', status: 200, headers: {}, body: Readable.from([]) } as never),
      this.#runMs - this.#doneMs,
    )
  }

  #end(answer: JobAnswer): void {
    if (this.#over) return
    this.#doneMs = this.cpuMs()
    this.#over = true
    clearTimeout(this.#timer)
    this.#answer.resolve(answer)
    const wallMs = performance.now() - this.#began
    this.#ended.resolve({ cpuMs: this.#doneMs, wallMs, peakMemoryMb: 1 })
  }
}
