/** An upstream as a pool: checks its health and sends jobs to it, but never pauses or ends it. */
import { ContractError } from '../../lib/errors.ts'
import type { OpenPrograms } from '../../wire/programs.ts'
import type { JobPool } from '../job-pool.ts'
import type { JobRequest, JobRun } from '../job-run.ts'
import { programAddress, urlAddress } from './address.ts'
import { Connections } from './connections.ts'
import { checkHealth, healthTimeoutMs } from './health.ts'
import { ProgramRun, type ProgramRunHost } from './program-run.ts'
import type { RequestTarget } from './request-target.ts'
import type { UpstreamSettings } from './settings.ts'

export interface UpstreamPoolOptions {
  server: UpstreamSettings
  log(line: string): void
}

const maxFailures = 3
/** Delays between checks while it is unhealthy. */
const firstDelayMs = 100
const maxDelayMs = 5_000

export class UpstreamPool implements JobPool {
  readonly #options: UpstreamPoolOptions
  readonly #target: RequestTarget
  readonly #runHost: ProgramRunHost
  readonly #runs = new Set<ProgramRun>()
  readonly #waiting = new Set<ProgramRun>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #readyTimer: NodeJS.Timeout
  #healthy = false
  #failures = 0
  #problem = 'not checked yet'
  #waitMs = firstDelayMs
  #checkTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: UpstreamPoolOptions) {
    const { server } = options
    this.#options = options
    const address = urlAddress(new URL(server.upstream))
    this.#target = {
      name: `the upstream ${server.upstream}`,
      address,
      connections: new Connections({ tls: address.tls, single: false }),
      pid: undefined,
      peakMb: () => 0,
      account: () => undefined,
      demandMs: () => undefined,
      isRunnable: () => false,
      isEnding: () => false,
      exit: async () => undefined,
    }
    this.#runHost = {
      exclusive: false,
      waitMs: server.startMs,
      unavailableReason: () => `${this.#name} is not healthy: ${this.#problem}`,
      pause: () => {},
      resume: () => {},
      request: (run) => {
        this.#waiting.add(run)
        this.#serve()
      },
      withdraw: (run) => this.#waiting.delete(run),
      unreachable: (run) => {
        this.#runs.delete(run)
        this.#markUnhealthy(`nothing listens on ${this.#target.address.where}`)
      },
      ended: (run) => this.#runs.delete(run),
      discard: async () => {},
    }
    this.#readyTimer = setTimeout(() => this.#ready.resolve(), server.startMs)
    this.#ready.promise.catch(() => {})
    this.#check()
  }

  /** Resolves when the upstream is healthy, or after the start timeout. */
  ready(): Promise<void> {
    return this.#ready.promise
  }

  get problem(): string | undefined {
    return this.#healthy ? undefined : this.#runHost.unavailableReason()
  }

  get programs(): OpenPrograms | undefined {
    const { address } = this.#target
    const { concurrency } = this.#options.server
    if (!this.#healthy || address.tls || concurrency === 1) return undefined
    return { addresses: [programAddress(address)], concurrency }
  }

  /** The worker starts no processes for an upstream. */
  readonly size = 0

  start(job: JobRequest): JobRun {
    if (this.#closed) throw new ContractError(`job ${job.job}: the pool is closed`)
    return new ProgramRun(job, this.#runHost)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#readyTimer)
    clearTimeout(this.#checkTimer)
    for (const run of [...this.#waiting, ...this.#runs]) run.cancel()
    this.#target.connections.closeIdle()
    this.#ready.reject(new ContractError('the pool was closed before its upstream was healthy'))
  }

  get #name(): string {
    return `upstream ${this.#options.server.upstream}`
  }

  #serve(): void {
    if (!this.#healthy) return
    for (const run of this.#waiting) {
      this.#waiting.delete(run)
      this.#runs.add(run)
      run.use(this.#target)
    }
  }

  /** A healthy upstream is not checked while it has jobs: it may accept no more connections than it has jobs. */
  async #check(): Promise<void> {
    const isBusy = () => this.#healthy && this.#runs.size > 0
    const { health } = this.#options.server
    const problem = isBusy() ? undefined : await checkHealth(this.#target.address, health, healthTimeoutMs)
    if (this.#closed) return
    if (problem && !isBusy() && ++this.#failures >= (this.#healthy ? maxFailures : 1))
      this.#markUnhealthy(problem.message)
    else if (!problem) this.#markHealthy()
    this.#plan()
  }

  #plan(): void {
    const waitMs = this.#healthy ? this.#options.server.healthEveryMs : this.#waitMs
    if (!this.#healthy) this.#waitMs = Math.min(maxDelayMs, 2 * waitMs)
    clearTimeout(this.#checkTimer)
    this.#checkTimer = setTimeout(() => this.#check(), waitMs).unref()
  }

  #markHealthy(): void {
    this.#failures = 0
    this.#waitMs = firstDelayMs
    if (!this.#healthy) this.#options.log(`${this.#name}: healthy`)
    this.#healthy = true
    this.#ready.resolve()
    clearTimeout(this.#readyTimer)
    this.#serve()
  }

  #markUnhealthy(problem: string): void {
    if (this.#problem !== problem || this.#healthy)
      this.#options.log(`${this.#name}: not healthy: ${problem}`)
    this.#problem = problem
    if (!this.#healthy) return
    this.#healthy = false
    this.#plan()
  }
}
