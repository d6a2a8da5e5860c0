/**
 * Chooses where the parameters of a request are read: short ones on the event loop, which all requests share, and long
 * ones in a thread. A workload whose short parameters take long uses the thread too.
 */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Questioner } from '../../estimate/question.ts'
import { Outage } from '../../lib/outage.ts'
import { RecentMean, spreadMs } from '../../lib/retry-times.ts'
import type { Workload } from '../../workload/workload.ts'
import { RequestProblem, retryAfter } from '../problem.ts'
import { FairQueue } from './fair-queue.ts'
import {
  BadParams,
  cpuMsSince,
  type GivenParams,
  keptBytes,
  type ReadParams,
  readParams,
  shortBytes,
} from './params.ts'
import type { ThreadAnswer, ThreadCall, ThreadData } from './params-call.ts'
import { SlowChecks } from './slow-checks.ts'

/** A read in the thread that takes longer is ended, with the thread. */
const usualLimitMs = 5_000
const limitSteps = 10
/** Requests that may wait for the thread. */
const mostWaiting = 4096
/** The time that a request keeps the thread busy, until one has. */
const guessedMs = 100
/** An idle thread ends after this time. */
const idleMs = 600_000
const threadMemoryMb = 512

export interface ParamsReaderParts {
  /** Modules of the workloads, which the thread imports. */
  files: readonly string[]
  /** Hashes of code, by workload. */
  code: Readonly<Record<string, string>>
  ask: Questioner
  log(line: string): void
  limitMs?: number
  /** Default: a thread of this process. */
  startThread?: StartParamsThread | undefined
}

/** What is used of a thread. */
export interface ParamsThreadHandle extends Pick<Worker, 'postMessage' | 'terminate' | 'ref' | 'unref'> {
  on(event: 'message', listener: (answer: ThreadAnswer) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'exit', listener: (code: number) => void): unknown
}
export type StartParamsThread = (data: ThreadData) => ParamsThreadHandle

/** Rejects with a problem. */
export type ParamsReader = (workload: Workload, asked: AskedParams) => Promise<ReadParams>

export interface AskedParams {
  /** Clients share the thread. */
  clientName: string
  /** The length of the parameters. */
  bytes: number
  /** Called when they are read. */
  given(): Promise<GivenParams>
}

interface Waiting {
  clientName: string
  workload: string
  keep: boolean
  given(): Promise<GivenParams>
  /** The CPU time of the check. */
  checked(ms: number): void
  resolve(read: ReadParams): void
  reject(error: Error): void
}

export function paramsReader(parts: ParamsReaderParts): ParamsReader {
  const slow = new SlowChecks(parts.log)
  const thread = new ParamsThread(parts)

  async function readHere(workload: Workload, given: GivenParams): Promise<ReadParams> {
    const before = process.threadCpuUsage()
    const reading = readParams(workload, given, parts.ask)
    slow.note(workload.name, cpuMsSince(before))
    return await reading
  }

  return async (workload, { clientName, bytes, given }) => {
    const { name } = workload
    const isShort = bytes <= shortBytes
    const checked = (ms: number) => {
      if (isShort) slow.note(name, ms)
    }
    try {
      if (isShort && !slow.has(name)) return await readHere(workload, await given())
      return await thread.read({ clientName, workload: name, keep: bytes <= keptBytes, given, checked })
    } catch (error) {
      if (!(error instanceof BadParams)) throw error
      throw new RequestProblem(400, error.code, error.message, { fields: error.fields })
    }
  }
}

/**
 * Reads one request at a time; clients have equal shares of its time. Starts on first use; while idle it does not keep the
 * process alive.
 */
class ParamsThread {
  readonly #parts: ParamsReaderParts
  readonly #waiting = new FairQueue<Waiting>(mostWaiting)
  #current: Waiting | undefined
  /** Resolves when it has loaded the workloads. */
  #worker: Promise<ParamsThreadHandle> | undefined
  readonly #busyMs = new RecentMean(guessedMs)
  #sentAt = 0
  #refused = 0
  #limit: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  readonly #outage: Outage

  constructor(parts: ParamsReaderParts) {
    this.#parts = parts
    const words = {
      failed: (why: string) => `the thread that checks long parameters cannot be started: ${why}`,
      works: () => 'the thread that checks long parameters is started again',
    }
    this.#outage = new Outage(words, parts.log)
  }

  read(asked: Omit<Waiting, 'resolve' | 'reject'>): Promise<ReadParams> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(asked.clientName, { ...asked, resolve, reject })?.reject(this.#busy())
      void this.#next()
    })
  }

  async #next(): Promise<void> {
    if (this.#current) return
    clearTimeout(this.#idle)
    const next = this.#waiting.next()
    if (!next) {
      this.#worker?.then((worker) => worker.unref()).catch(() => {})
      this.#idle = setTimeout(() => this.#end(), idleMs).unref()
      return
    }
    this.#current = next
    const { workload, keep } = next
    try {
      this.#worker ??= this.#start()
      const worker = await this.#worker
      worker.ref()
      const given = await next.given()
      const transfer = given.json ? [given.json.buffer as ArrayBuffer] : []
      this.#sentAt = performance.now()
      this.#watch()
      worker.postMessage({ workload, given, keep } satisfies ThreadCall, transfer)
    } catch (error) {
      const failure = this.#failure(error as Error)
      this.#done((waiting) => waiting.reject(failure))
    }
  }

  #start(): Promise<ParamsThreadHandle> {
    const { files, code, startThread = startWorker } = this.#parts
    const worker = startThread({ files: [...files], code })
    const ready = Promise.withResolvers<ParamsThreadHandle>()
    worker.on('message', (answer: ThreadAnswer) => {
      if ('ready' in answer) {
        this.#outage.works()
        ready.resolve(worker)
      }
      // A thread that was ended because it was too slow may still answer.
      else if (this.#worker === ready.promise) this.#receive(answer)
    })
    const ended = (error: NodeJS.ErrnoException) => {
      if (this.#worker !== ready.promise) return
      this.#worker = undefined
      ready.reject(error)
      if (this.#limit) this.#done((waiting) => waiting.reject(this.#failure(error)))
    }
    worker.on('error', ended)
    worker.on('exit', (code) =>
      ended(new Error(`a workload ended the thread of parameters with code ${code}`)),
    )
    return ready.promise
  }

  #receive(answer: Exclude<ThreadAnswer, { ready: true }>): void {
    if ('log' in answer) return this.#parts.log(answer.log)
    this.#done((waiting) => {
      if ('read' in answer) {
        waiting.checked(answer.ms)
        return waiting.resolve(answer.read)
      }
      if ('failed' in answer) return waiting.reject(Object.assign(new Error(), { stack: answer.failed }))
      const { code, message, fields } = answer.bad
      waiting.reject(new BadParams(code, message, fields))
    })
  }

  #done(settle: (waiting: Waiting) => void): void {
    const current = this.#current
    if (this.#limit) {
      const busyMs = performance.now() - this.#sentAt
      this.#busyMs.add(busyMs)
      if (current) this.#waiting.used(current.clientName, busyMs)
    }
    clearTimeout(this.#limit)
    this.#limit = undefined
    this.#current = undefined
    if (current) settle(current)
    void this.#next()
  }

  /** A pause of this process, in which no answer is received, counts as one step of the limit. */
  #watch(stepsLeft = limitSteps): void {
    const stepMs = (this.#parts.limitMs ?? usualLimitMs) / limitSteps
    this.#limit = setTimeout(() => (stepsLeft > 1 ? this.#watch(stepsLeft - 1) : this.#tooSlow()), stepMs)
  }

  #tooSlow(): void {
    const { limitMs = usualLimitMs } = this.#parts
    this.#end()
    this.#done((waiting) => {
      this.#parts.log(`workload ${waiting.workload}: checking parameters took longer than ${limitMs} ms`)
      waiting.reject(
        new RequestProblem(
          503,
          'params-too-slow',
          `The parameters took longer than ${limitMs / 1000} s to check.`,
          { headers: retryAfter(this.#waitMs()) },
        ),
      )
    })
  }

  /** The time in which the thread is done with all that wait. */
  #waitMs(): number {
    return spreadMs(this.#busyMs.value * (this.#waiting.length + 1), ++this.#refused)
  }

  #busy(): RequestProblem {
    return new RequestProblem(
      503,
      'params-queue-full',
      `More than ${mostWaiting} requests wait for their parameters to be checked; try again.`,
      { headers: retryAfter(this.#waitMs()) },
    )
  }

  #failure(error: NodeJS.ErrnoException): Error {
    // The system has no descriptor, process or memory for a thread.
    if (error.code === 'ERR_WORKER_INIT_FAILED') {
      this.#outage.failed(error.message)
      return new RequestProblem(
        503,
        'params-unchecked',
        'The thread that checks parameters could not be started; try again.',
        { headers: retryAfter(this.#waitMs()) },
      )
    }
    if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error
    const message = `The parameters need more than ${threadMemoryMb} MB of memory to check.`
    return new RequestProblem(413, 'params-too-large', message)
  }

  #end(): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.then((thread) => thread.terminate()).catch(() => {})
  }
}

function startWorker(workerData: ThreadData): Worker {
  // Uses this file's extension, so that it also works as published JavaScript.
  const entry = new URL(`./params-thread${extname(import.meta.url)}`, import.meta.url)
  return new Worker(entry, {
    name: 'params',
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: threadMemoryMb },
  })
}
