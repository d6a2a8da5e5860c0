/**
 * Delegates small requests to fronts, which send them to workers without asking the brain: tells fronts which names and
 * which workers, and passes on what they report to the brain, the ledger and the estimates.
 */

import type { OpenJob } from '../../front/open-job.ts'
import type { Action } from '../../model/action.ts'
import type { Event } from '../../model/event.ts'
import { mayWork, type WorkerView } from '../../model/view.ts'
import type { DirectOrder, DirectReport, DirectRow, DirectStanding } from '../../wire/direct.ts'
import type { Address, ToFront } from '../../wire/front-messages.ts'
import type { OpenPrograms } from '../../wire/programs.ts'
import { HeldWorkers } from './held-workers.ts'
import { SmallNames } from './small-names.ts'

/** Orders follow changes of the fleet after this time, so that many changes make one order. */
const settleMs = 20
/** The places that the brain's own jobs leave at programs follow them after this time. */
const shareMs = 50
/** A change that no decision of the brain shows, such as a worker that falls silent, is noticed after this time. */
const noticeMs = 1_000

/**
 * Requests that share a program may be larger: the brain could not pause them either, and their time includes that of other
 * processes on the same cores.
 */
const sharedFactor = 5

export interface DelegationParts {
  /** Names whose requests take less are delegated; 0: none. */
  belowMs: number
  /** Fronts among which the places of a program that the brain's jobs leave are divided. */
  fronts: number
  workers(): readonly WorkerView[]
  /** Of a worker that has joined. */
  addressOf(worker: string): Address | undefined
  /** Why a worker cannot run jobs now. */
  problems: ReadonlyMap<string, string>
  /** False: each request to this name needs the brain. */
  mayDelegate(name: string): boolean
  /** Jobs on the general path that have not ended. */
  openJobs(): number
  /** True: it serves an existing server, whose requests share programs. */
  hasServer: boolean
  broadcast(message: ToFront): void
  /** The fronts that have joined. */
  joined(): readonly string[]
  tell(event: Event): void
  learn(row: DirectRow): void
}

/** Counts since the start. */
export interface DirectTotals {
  answered: number
  givenBack: number
  /** Small now. */
  names: string[]
}

type Delegated = Omit<DirectOrder, 'seq'>

const nothing: Delegated = { names: [], workers: [] }

export class Delegation {
  readonly #parts: DelegationParts
  readonly #small: SmallNames
  readonly #programs = new Map<string, OpenPrograms>()
  readonly #held: HeldWorkers
  #last: DirectOrder = { seq: 0, ...nothing }
  #timer: NodeJS.Timeout | undefined
  /** When the timer fires, by `performance.now()`. */
  #plannedAt = 0
  #closed = false
  #answered = 0
  #givenBack = 0

  constructor(parts: DelegationParts) {
    this.#parts = parts
    this.#small = new SmallNames(parts.belowMs * (parts.hasServer ? sharedFactor : 1))
    this.#held = new HeldWorkers(parts)
  }

  get order(): DirectOrder {
    return this.#last
  }

  totals(): DirectTotals {
    return { answered: this.#answered, givenBack: this.#givenBack, names: this.#last.names }
  }

  /** A worker has reported its programs. */
  programs(worker: string, programs: OpenPrograms | undefined): void {
    if (JSON.stringify(this.#programs.get(worker)) === JSON.stringify(programs)) return
    if (programs) this.#programs.set(worker, programs)
    else this.#programs.delete(worker)
    this.#plan()
  }

  /** A job on the general path has ended. */
  ended({ parts, cost, outcome }: OpenJob): void {
    const { belowMs, hasServer, mayDelegate } = this.#parts
    if (belowMs === 0 || !cost || outcome !== 'result') return
    const { workload, safeToRepeat } = parts.job
    const isMeasured = cost.measure === (hasServer ? 'time' : 'meter')
    const ms = hasServer ? cost.cpuMs / this.#sharing() : cost.cpuMs
    // To a program fronts send a request at most once, if it must not be repeated, and short bodies with it.
    const mayBeSent = hasServer || (safeToRepeat !== false && !parts.hasBody)
    const counts = isMeasured && mayBeSent && mayDelegate(workload)
    if (counts && this.#small.took(workload, ms)) this.#plan()
  }

  /** Another version is served. */
  renew(): void {
    this.#small.forget()
    this.#plan()
  }

  report({ counts, rows }: DirectReport): void {
    const { tell, learn } = this.#parts
    for (const { name, answered, givenBack, work, totalMs, longestMs } of counts) {
      this.#answered += answered
      this.#givenBack += givenBack
      if (answered > 0) tell({ type: 'delegated', jobs: answered, work })
      if (this.#small.sentDirectly(name, { answered, givenBack, totalMs, longestMs })) this.#plan()
    }
    for (const row of rows) learn(row)
  }

  /** What a front still does elsewhere than it is told; undefined: it is gone. */
  standing(front: string, standing: DirectStanding | undefined): void {
    if (this.#parts.hasServer && !this.#closed) this.#held.standing(front, standing)
  }

  /** Workers come and go by the brain's decisions. */
  observe(event: Event, actions: readonly Action[]): void {
    if (event.type === 'joined' || event.type === 'disconnected') this.#plan()
    if (event.type === 'reported' || event.type === 'tick') this.#plan(noticeMs)
    const sharesPrograms = this.#parts.hasServer && this.#last.names.length > 0
    for (const { type } of actions) {
      if (type === 'drain' || type === 'terminate' || type === 'eject' || type === 'readmit') this.#plan()
      else if (sharesPrograms && (type === 'run' || type === 'answer')) this.#plan(shareMs)
    }
  }

  /** Nothing more is sent. */
  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  #plan(afterMs = settleMs): void {
    if (this.#closed) return
    const at = performance.now() + afterMs
    if (this.#timer && this.#plannedAt <= at) return
    clearTimeout(this.#timer)
    this.#plannedAt = at
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#tellFronts()
    }, afterMs)
  }

  /** Requests that share a program share its time: about this many, if all programs have equally many. */
  #sharing(): number {
    let programs = 0
    let most = 1
    for (const { addresses, concurrency } of this.#programs.values()) {
      programs += addresses.length
      most = Math.max(most, concurrency)
    }
    return Math.max(1, Math.min(most, this.#parts.openJobs() / Math.max(1, programs)))
  }

  #tellFronts(): void {
    const { seq } = this.#last
    const order = this.#order()
    if (JSON.stringify({ seq, ...order }) === JSON.stringify(this.#last)) return
    this.#last = { seq: seq + 1, ...order }
    if (this.#parts.hasServer) this.#held.ordered(this.#last)
    this.#parts.broadcast({ type: 'direct', ...this.#last })
  }

  #order(): Delegated {
    const names = this.#small.list()
    if (names.length === 0) return nothing
    const { workers, problems } = this.#parts
    const isOpen = (worker: WorkerView) => mayWork(worker) && !worker.suspect && !worker.notice
    const open = workers().filter((worker) => isOpen(worker) && !problems.has(worker.id))
    return { names, workers: open.flatMap((worker) => this.#worker(worker) ?? []) }
  }

  /** Undefined: fronts cannot send requests there directly. */
  #worker({ id, jobs }: WorkerView): DirectOrder['workers'][number] | undefined {
    const { hasServer, fronts, addressOf } = this.#parts
    if (!hasServer) return { id }
    const programs = this.#programs.get(id)
    // Programs listen on their worker's machine.
    if (!programs || addressOf(id)?.tls) return undefined
    const taken = Math.ceil(jobs.filter(({ running }) => running).length / programs.addresses.length)
    // Without jobs of the brain, even more fronts than places get one each.
    const least = taken === 0 ? 1 : 0
    const concurrency = Math.max(least, Math.floor((programs.concurrency - taken) / fronts))
    return { id, programs: { ...programs, concurrency } }
  }
}
