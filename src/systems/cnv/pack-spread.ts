/**
 * The placement of CNV. Each worker carries a bounded amount of work. Below a mean load jobs are packed onto the fewest
 * workers, above another they are spread, and between the two the mode stays. Jobs that no worker can carry are queued:
 * retries first, then by class. A job too large for any worker goes to an idle one.
 */

import type { Accepts } from '../../brain/jobs/eligible.ts'
import { EmptyWorkers } from '../../brain/schedule/empty.ts'
import {
  passOver,
  type Scheduler,
  type SchedulerFactory,
  type SchedulerParts,
  type Verdict,
} from '../../brain/schedule/scheduler.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../../brain/state.ts'
import { type Entry, Heap } from '../../lib/heap.ts'
import type { Reason } from '../../model/reason.ts'
import type { Figures } from '../../model/view.ts'

export interface PackSpreadOptions {
  /** The most work that a worker may carry. */
  mostWork?: number
  /** Classes by work, the smallest first; the last has no bound. */
  workClasses?: readonly WorkClass[]
  /** Shares of `mostWork`: below the first jobs are packed, above the second spread. */
  packBelow?: number
  spreadAbove?: number
}

export interface WorkClass {
  name: string
  mostWork: number | null
}

/** The default: one class without bound. */
const noClasses: readonly WorkClass[] = [{ name: 'any', mostWork: null }]

/** Mean loads, as shares of the capacity, between which the mode stays. */
const modeBounds = { packBelow: 0.4, spreadAbove: 0.6 } as const

export const packSpread: SchedulerFactory<PackSpreadOptions> = (parts) => new PackSpread(parts)

class PackSpread implements Scheduler {
  readonly name = 'pack-spread'
  readonly #accepts: Accepts
  readonly #mostWork: number
  readonly #classes: readonly WorkClass[]
  /** Mean loads at which the mode changes. */
  readonly #packBelow: number
  readonly #spreadAbove: number
  readonly #loads = new Loads()
  readonly #empty = new EmptyWorkers()
  #spreads = false

  constructor({ accepts, spec }: SchedulerParts<PackSpreadOptions>) {
    const {
      mostWork = Infinity,
      workClasses = noClasses,
      packBelow,
      spreadAbove,
    } = { ...modeBounds, ...spec }
    this.#accepts = accepts
    this.#mostWork = mostWork
    this.#classes = workClasses
    this.#packBelow = packBelow * mostWork
    this.#spreadAbove = spreadAbove * mostWork
  }

  rank(record: JobRecord): number {
    const isRetry = record.attempts > (record.functions?.tries ?? 0)
    return isRetry ? 0 : 1 + this.#classOf(record)
  }

  refile(worker: WorkerRecord): void {
    this.#empty.refile(worker)
    this.#loads.refile(worker)
  }

  place(record: JobRecord): Verdict {
    const { average } = this.#loads
    if (average < this.#packBelow) this.#spreads = false
    else if (average > this.#spreadAbove) this.#spreads = true
    const worker = this.#find(record)
    if (!worker) return { reason: this.#noCapacity(record) }
    const code = this.#spreads ? 'spread' : 'pack'
    const percent = this.#percentOf(loadOf(worker))
    return { worker, reason: { code, percent, averagePercent: this.#percentOf(average) } }
  }

  /** An idle worker carries any job. */
  fits(worker: WorkerRecord, { job }: JobRecord): boolean {
    return worker.jobs.length === 0 || loadOf(worker) + job.work <= this.#mostWork
  }

  takes(worker: WorkerRecord): Reason {
    return { code: 'capacity', percent: this.#percentOf(loadOf(worker)) }
  }

  figuresOf(worker: WorkerRecord): Figures {
    const counts = this.#classes.map(({ name }, i) => [
      name,
      worker.jobs.filter(({ record }) => this.#classOf(record) === i).length,
    ])
    return { loadPercent: this.#percentOf(loadOf(worker)), ...Object.fromEntries(counts) }
  }

  #find(record: JobRecord): WorkerRecord | undefined {
    const { least, most } = this.#loads
    const may = (worker: WorkerRecord) => this.#accepts(worker, record) && this.fits(worker, record)
    const worker = (this.#spreads ? least : most).find(may, passOver)
    if (worker || least.size <= passOver) return worker
    return least.find(may, passOver) ?? this.#empty.first(record, this.#accepts)
  }

  #noCapacity(record: JobRecord): Reason {
    const { name } = this.#classes[this.#classOf(record)]!
    const { work } = record.job
    return { code: 'no-capacity', class: name, work, openWorkers: this.#loads.least.size }
  }

  #classOf({ job: { work } }: JobRecord): number {
    return this.#classes.findIndex(({ mostWork }) => mostWork === null || work <= mostWork)
  }

  #percentOf(load: number): number {
    return this.#mostWork < Infinity ? Math.round((load / this.#mostWork) * 100) : 0
  }
}

interface Filed {
  /** The predicted work of its jobs, which counts in full until they end. */
  load: number
  counted: boolean
  least: Entry<WorkerRecord>
  most: Entry<WorkerRecord>
}

/** Workers by load, and the mean load of ready ones. */
class Loads {
  readonly least = new Heap<WorkerRecord>()
  readonly most = new Heap<WorkerRecord>()
  #ready = 0
  #total = 0

  get average(): number {
    return this.#ready > 0 ? this.#total / this.#ready : 0
  }

  refile(worker: WorkerRecord): void {
    const filed = filedOf(worker)
    if (filed.counted) {
      this.#ready--
      this.#total = this.#ready === 0 ? 0 : this.#total - filed.load
    }
    filed.load = worker.jobs.reduce((sum, { job }) => sum + job.work, 0)
    filed.counted = worker.state === 'ready'
    if (filed.counted) {
      this.#ready++
      this.#total += filed.load
    }
    if (isOpen(worker)) {
      this.least.put(filed.least, filed.load, worker.placedStamp)
      this.most.put(filed.most, -filed.load, worker.number)
    } else {
      this.least.remove(filed.least)
      this.most.remove(filed.most)
    }
  }
}

function filedOf(worker: WorkerRecord): Filed {
  worker.filed ??= {
    ...{ load: 0, counted: false },
    ...{ least: { item: worker, at: -1 }, most: { item: worker, at: -1 } },
  } satisfies Filed
  return worker.filed as Filed
}

function loadOf(worker: WorkerRecord): number {
  return filedOf(worker).load
}
