/** A program that runs already, as a pool: health-checked, given jobs as they come, never stopped or ended. */
import { ContractError } from '../../lib/errors.ts'
import type { JobPool } from '../job-pool.ts'
import type { SlotJobRequest, SlotRun } from '../slots/slot-run.ts'
import { urlAddress } from './address.ts'
import { checkHealth, patienceMs } from './health.ts'
import type { Place } from './place.ts'
import { ProgramRun, type RunHost } from './program-run.ts'
import type { UpstreamSettings } from './settings.ts'

export interface UpstreamPoolOptions {
  server: UpstreamSettings
  log(line: string): void
}

const mostFailures = 3
/** Before it is looked at again while it is not healthy. */
const firstMs = 100
const mostMs = 5_000

export class UpstreamPool implements JobPool {
  readonly #options: UpstreamPoolOptions
  readonly #place: Place
  readonly #runHost: RunHost
  readonly #runs = new Set<ProgramRun>()
  readonly #waiting = new Set<ProgramRun>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #readyTimer: NodeJS.Timeout
  #healthy = false
  #failures = 0
  #trouble = 'not looked at yet'
  #waitMs = firstMs
  #checkTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: UpstreamPoolOptions) {
    const { server } = options
    this.#options = options
    this.#place = {
      name: `the upstream ${server.upstream}`,
      address: urlAddress(new URL(server.upstream)),
      pid: undefined,
      peakMb: () => 0,
      account: () => undefined,
      isEnding: () => false,
      fate: async () => undefined,
    }
    this.#runHost = {
      alone: false,
      waitMs: server.startMs,
      whyNone: () => `${this.#name} is not healthy: ${this.#trouble}`,
      pause: () => {},
      resume: () => {},
      seek: (run) => {
        this.#waiting.add(run)
        this.#serve()
      },
      leave: (run) => this.#waiting.delete(run),
      unreachable: (run) => {
        this.#runs.delete(run)
        this.#sicken(`nothing listens on ${this.#place.address.where}`)
      },
      over: (run) => this.#runs.delete(run),
      discard: async () => {},
    }
    this.#readyTimer = setTimeout(() => this.#ready.resolve(), server.startMs)
    this.#ready.promise.catch(() => {})
    this.#look()
  }

  /** It is healthy, or had the time to be. */
  ready(): Promise<void> {
    return this.#ready.promise
  }

  /** None of its processes is ours. */
  readonly size = 0

  start(job: SlotJobRequest): SlotRun {
    if (this.#closed) throw new ContractError(`job ${job.job}: the pool is closed`)
    return new ProgramRun(job, this.#runHost)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#readyTimer)
    clearTimeout(this.#checkTimer)
    for (const run of [...this.#waiting, ...this.#runs]) run.cancel()
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
      run.use(this.#place)
    }
  }

  /** While it has jobs it is looked at only if it is not healthy: it may take no more connections than it has jobs. */
  async #look(): Promise<void> {
    const isBusy = () => this.#healthy && this.#runs.size > 0
    const { health } = this.#options.server
    const sickness = isBusy() ? undefined : await checkHealth(this.#place.address, health, patienceMs)
    if (this.#closed) return
    if (sickness && !isBusy() && ++this.#failures >= (this.#healthy ? mostFailures : 1))
      this.#sicken(sickness.why)
    else if (!sickness) this.#recover()
    this.#plan()
  }

  #plan(): void {
    const waitMs = this.#healthy ? this.#options.server.healthEveryMs : this.#waitMs
    if (!this.#healthy) this.#waitMs = Math.min(mostMs, 2 * waitMs)
    clearTimeout(this.#checkTimer)
    this.#checkTimer = setTimeout(() => this.#look(), waitMs).unref()
  }

  #recover(): void {
    this.#failures = 0
    this.#waitMs = firstMs
    if (!this.#healthy) this.#options.log(`${this.#name}: healthy`)
    this.#healthy = true
    this.#ready.resolve()
    clearTimeout(this.#readyTimer)
    this.#serve()
  }

  #sicken(why: string): void {
    if (this.#trouble !== why || this.#healthy) this.#options.log(`${this.#name}: not healthy: ${why}`)
    this.#trouble = why
    if (!this.#healthy) return
    this.#healthy = false
    this.#plan()
  }
}
