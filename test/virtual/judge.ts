/** Judges a run: what was promised to each request, and to each worker. */

import type { AttemptToken } from '../../src/model/attempt.ts'
import type { Ending } from './client.ts'
import type { VirtualProcess } from './time.ts'
import { resultOf } from './workload.ts'

/** Longest time that a brain or a front computes before it reads its sockets again. */
const mostTurnMs = 5
/** Longest time that an ordinary request waits in a run without faults, beyond what its job takes. */
const mostWaitMs = 3_000

export interface ProcessCounts {
  requests: number
  results: number
  problems: number
  /** Of these, requests that were shed. */
  shed: number
  broken: number
  brainKills: number
  /** Attempts that the next brain adopted. */
  adopted: number
  brainPauses: number
  workerKills: number
  frontKills: number
  resets: number
  silences: number
  diskFaults: number
  suspensions: number
  frontPauses: number
  supervisorPauses: number
  /** Processes that the system refused to start. */
  failedStarts: number
  /** Written, and dropped by the last brain. */
  ledgerRows: number
  droppedRows: number
  rolls: number
  rollKills: number
  /** The longest time that an ordinary request waited in a run without faults. */
  longestWaitMs: number
  workerRestarts: number
  twins: number
  sendFaults: number
  forgotten: number
  lost: number
}

/** One request of a client. */
export interface Request {
  number: number
  safeToRepeat: boolean
  /** How it ends if no fault touches it. `limit`: at its time limit. `cut`: its client reads too slowly. */
  expected: { kind: 'result' | 'limit' | 'cut' } | { kind: 'problem'; status: number }
  /** Its client reads at once, and it ends by itself. */
  isOrdinary: boolean
  sentAt: number
  /** Time that its job takes alone. */
  needsMs: number
  /** The front that accepted it. */
  front: VirtualProcess | undefined
  starts: number
  endings: Ending[]
  disconnected: boolean
}

export class Judge {
  readonly #now: () => number
  /** Without faults, no request waits long or is refused. */
  isCalm = false
  /** The only faults are deaths of brains. What runs then goes on, and nothing is refused. */
  losesOnlyBrains = false
  /** The system refuses to start processes and threads now and then. */
  hasFailedStarts = false
  readonly #requests = new Map<number, Request>()
  /** Beginnings of log lines that must follow, and since when. */
  readonly #untold = new Map<string, number>()
  readonly failures: string[] = []
  /** Processes that a fault has ended. */
  readonly killed = new Set<VirtualProcess>()
  readonly counts: ProcessCounts = {
    ...{ requests: 0, results: 0, problems: 0, shed: 0, broken: 0, brainKills: 0, brainPauses: 0 },
    ...{
      adopted: 0,
      workerKills: 0,
      frontKills: 0,
      resets: 0,
      silences: 0,
      diskFaults: 0,
      suspensions: 0,
      frontPauses: 0,
      supervisorPauses: 0,
      failedStarts: 0,
      ledgerRows: 0,
      droppedRows: 0,
      rolls: 0,
      rollKills: 0,
      longestWaitMs: 0,
      workerRestarts: 0,
      lost: 0,
    },
    ...{ twins: 0, sendFaults: 0, forgotten: 0 },
  }

  readonly #lines: string[] | undefined
  /** Counts that have been logged. */
  #logged: Partial<ProcessCounts> = {}

  /** `lines`: where events are logged. */
  constructor(now: () => number, lines?: string[]) {
    this.#now = now
    this.#lines = lines
  }

  fail(why: string): void {
    this.failures.push(`${(this.#now() / 1000).toFixed(3)} s: ${why}`)
  }

  /** True: a promise was broken. It is asked after every event, and logs what has been counted since. */
  get isOver(): boolean {
    if (this.#lines) this.#logCounts()
    return this.failures.length > 0
  }

  #log(text: string): void {
    this.#lines?.push(`${(this.#now() / 1000).toFixed(3)} s: ${text}`)
  }

  /** Most of what happens is counted: faults above all. */
  #logCounts(): void {
    for (const [name, count] of Object.entries(this.counts) as [keyof ProcessCounts, number][])
      if (count !== (this.#logged[name] ?? 0)) this.#log(`${name}: ${count}`)
    this.#logged = { ...this.counts }
  }

  uncaught(process: VirtualProcess | undefined, error: unknown): void {
    this.fail(`${process?.name ?? 'the world'} died of ${(error as Error)?.stack ?? String(error)}`)
  }

  /** The operator must be told of it. */
  notSent({ job, attempt }: AttemptToken): void {
    this.#untold.set(`job ${job}: attempt ${attempt} `, this.#now())
  }

  /** What comes at the same moment was sent before the brain could know of the failure. */
  over(job: string): void {
    for (const [start, since] of this.#untold)
      if (start.startsWith(`job ${job}: `) && since === this.#now()) this.#untold.delete(start)
  }

  /** A process has computed for this long without reading its sockets. */
  computed({ name }: VirtualProcess, turnMs: number): void {
    if (turnMs > mostTurnMs && /^(brain|front|supervisor)/.test(name))
      this.fail(`${name} computed for ${turnMs.toFixed(1)} ms at once`)
  }

  logged(line: string): void {
    this.#log(`log of the brain: ${line}`)
    for (const start of this.#untold.keys()) if (line.startsWith(start)) this.#untold.delete(start)
  }

  sent(request: Request): void {
    this.counts.requests++
    const { number, expected, needsMs, safeToRepeat } = request
    this.#log(
      `request ${number} is sent: ${expected.kind}, ${needsMs.toFixed(0)} ms${safeToRepeat ? '' : ', must not be repeated'}`,
    )
    this.#requests.set(request.number, request)
  }

  started(number: number): void {
    const request = this.#requests.get(number)!
    request.starts++
    this.#log(`request ${number} starts`)
    if (this.losesOnlyBrains && request.starts > 1 && request.expected.kind === 'result')
      this.fail(`request ${number} was run again, although only brains died`)
    if (!request.safeToRepeat && request.starts > 1)
      this.fail(`request ${number}, which must not be repeated, started ${request.starts} times`)
  }

  ended(request: Request, ending: Ending): void {
    const { counts } = this
    request.endings.push(ending)
    this.#log(`request ${request.number} ends: ${JSON.stringify(ending)}`)
    if (ending.kind === 'result') counts.results++
    else if (ending.kind === 'problem') counts.problems++
    else counts.broken++
    if (ending.kind === 'problem' && ending.code === 'overloaded') counts.shed++
    const { number, expected } = request
    if (request.endings.length > 1) this.fail(`request ${number} was answered twice`)
    const wrong = this.#unexpected(request, ending)
    if (wrong !== undefined) this.fail(`request ${number} (${expected.kind}): ${wrong}`)
    if (ending.kind !== 'result') return
    if (ending.value !== resultOf(number)) this.fail(`request ${number} got the result ${ending.value}`)
    if (request.starts === 0) this.fail(`request ${number} has a result, but never started`)
  }

  /** Faults may turn a result into a problem that says so, and break off what a killed front had in hand. */
  #unexpected({ expected, front, isOrdinary, sentAt, needsMs }: Request, ending: Ending): string | undefined {
    if (this.killed.has(front!)) return undefined
    if (ending.kind === 'broken') return expected.kind === 'cut' ? undefined : `broken off by ${front!.name}`
    if (ending.kind === 'problem') {
      const { status, code, problems } = ending
      if (problems > 10) return `${problems} problems are listed`
      if (code === 'stopping' || code === 'internal' || code === 'params-too-slow')
        return `refused as ${code} by ${front!.name}`
      if (code === 'params-unchecked' && this.hasFailedStarts) return undefined
      if (expected.kind === 'problem')
        return status === expected.status ? undefined : `status ${status} ${code}`
      if (code === 'overloaded' || (status === 504 && expected.kind === 'limit')) return undefined
      return this.isCalm || this.losesOnlyBrains ? `refused as ${code}` : undefined
    }
    if (expected.kind === 'problem' || expected.kind === 'limit') return 'it has a result'
    const waitedMs = this.#now() - sentAt - needsMs
    if (!isOrdinary || !this.isCalm) return undefined
    this.counts.longestWaitMs = Math.max(this.counts.longestWaitMs, waitedMs)
    return waitedMs > mostWaitMs ? `it waited for ${(waitedMs / 1000).toFixed(1)} s` : undefined
  }

  /** All requests have ended. */
  get isQuiet(): boolean {
    for (const { endings, disconnected, front } of this.#requests.values())
      if (endings.length === 0 && !disconnected && !this.killed.has(front!)) return false
    return true
  }

  /** `isHealthy`: no fault has touched the worker. */
  lost(worker: string, why: string, isHealthy: boolean): void {
    this.counts.lost++
    this.#log(`worker ${worker} is lost: ${why}`)
    if (isHealthy) this.fail(`healthy worker ${worker} was declared lost: ${why}`)
  }

  /** Requests at fronts that live on must have been answered by now. */
  atRest(): void {
    for (const start of this.#untold.keys()) this.fail(`${start}could not be sent, and nothing was logged`)
    for (const { number, endings, disconnected, front } of this.#requests.values()) {
      if (endings.length === 0 && !disconnected && !this.killed.has(front!))
        this.fail(`request ${number} was never answered`)
    }
  }
}
