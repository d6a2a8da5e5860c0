/**
 * Shortest remaining work first, with preemption. A job starts on a free core; else it preempts a job that has much
 * more left; else it is queued for all workers, and the first that can start it does.
 *
 * A preempted job stays on its worker, and so does one that has begun. Therefore a job must be much shorter to preempt
 * another; more workers are compared than the one whose job has the most left, since a job waits long where many are
 * paused; and a job waits briefly if a core is about to be free anyway, or until a slot would have started. The job that frees
 * a core frees its slot too.
 *
 * A job whose estimate is not proven yet is not ranked by it. It goes where the fewest jobs are, as with
 * least-connections, and shares the cores there, up to a few per core; more are queued in order of arrival.
 */

import type { Heap } from '../../lib/heap.ts'
import { thousandths } from '../../lib/quantities.ts'
import { rankOf, standsIn } from '../../model/discipline.ts'
import type { Reason } from '../../model/reason.ts'
import type { Accepts } from '../jobs/eligible.ts'
import { speedOf } from '../jobs/times.ts'
import type { JobRecord, WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { muchLonger, type Preemption, preemptionOn, preemptionReason } from './preemption.ts'
import { passOver, type Scheduler, type SchedulerFactory, type Verdict } from './scheduler.ts'
import { hasFreeCore, hasShare, isUnranked, speedForOneMore } from './shared-cores.ts'
import { SrptIndex } from './srpt-index.ts'

/** The number of busy workers compared, in order of the longest remaining job. */
const compared = 8
/** A job waits this fraction of its own time for a core that is about to be free, before it preempts. */
const patience = 0.05

export const srpt: SchedulerFactory = ({ accepts }) => new Srpt(accepts)

class Srpt implements Scheduler {
  readonly name = 'srpt'
  readonly bySize = true
  readonly #accepts: Accepts
  readonly #index = new SrptIndex()
  readonly #empty = new EmptyWorkers()

  constructor(accepts: Accepts) {
    this.#accepts = accepts
  }

  isAside(record: JobRecord): boolean {
    return isUnranked(record)
  }

  rank(record: JobRecord): number {
    return rankOf(record, 0, record.expected)
  }

  refile(worker: WorkerRecord): void {
    this.#empty.refile(worker)
    this.#index.refile(worker)
  }

  place(record: JobRecord, now: number, impatient = false): Verdict {
    const { free, busy, ending, open } = this.#index
    if (isUnranked(record)) return this.#placeUnproven(record)
    let idle = free.find((worker) => this.#accepts(worker, record), passOver)
    if (!idle && free.size > passOver) idle = this.#empty.first(record, this.#accepts)
    const { found, looked } =
      idle && isFastest(idle, busy) ? { found: undefined, looked: 0 } : this.#best(record, now)
    if (idle && !(found && isSooner(found, idle, record))) return { worker: idle, reason: coreFree(idle) }
    if (found) {
      const again = impatient ? undefined : this.#waitsUntil(record, found, now)
      if (again === undefined) return { worker: found.worker, reason: preemptionReason(found, record, now) }
      return { reason: coreSoon(ending.topKey() - now, found, record), again }
    }
    if (looked === 0) return { reason: { code: 'no-room', openWorkers: open } }
    return { reason: { code: 'all-shorter', work: record.job.work, openWorkers: open } }
  }

  takes(worker: WorkerRecord, record: JobRecord, now: number): Reason | undefined {
    if (isUnranked(record)) return hasShare(worker) ? shareOf(worker) : undefined
    if (hasFreeCore(worker)) return coreFree(worker)
    const found = preemptionOn(worker, record, now, muchLonger(record.job, this.#index.open))
    if (!found || this.#waitsUntil(record, found, now) !== undefined) return undefined
    return preemptionReason(found, record, now)
  }

  #placeUnproven(record: JobRecord): Verdict {
    const { crowd, open } = this.#index
    this.#index.keepCrowd()
    let worker = crowd.find((candidate) => hasShare(candidate) && this.#accepts(candidate, record), passOver)
    if (!worker && crowd.size > passOver) worker = this.#empty.first(record, this.#accepts)
    if (!worker) return { reason: { code: 'no-share', openWorkers: open } }
    return { worker, reason: shareOf(worker) }
  }

  /** The preemption that delays other jobs least, and the number of workers that could take the job. */
  #best(record: JobRecord, now: number): { found: Preemption | undefined; looked: number } {
    let found: Preemption | undefined
    let looked = 0
    const longer = muchLonger(record.job, this.#index.open)
    this.#index.busy.find((worker) => {
      if (!this.#accepts(worker, record)) return false
      looked++
      const preemption = preemptionOn(worker, record, now, longer)
      // The workers after it have even less left.
      if (!preemption) return true
      if (!found || preemption.cost < found.cost) found = preemption
      return looked === compared
    }, passOver)
    return { found, looked }
  }

  /** Until when the job waits for a core that is about to be free; undefined: none is. */
  #waitsUntil(record: JobRecord, { needMs, startMs }: Preemption, now: number): number | undefined {
    const { open, ending } = this.#index
    const until = record.arrivedAt + Math.max(patience * needMs, startMs)
    return (open > 1 || startMs > 0) && until > now && ending.topKey() < until && standsIn(record, 0) >= 0
      ? until
      : undefined
  }
}

/** True: the first of the busy workers is no faster. */
function isFastest(idle: WorkerRecord, busy: Heap<WorkerRecord>): boolean {
  const other = busy.top()
  return !other || other.workPerSecond <= speedForOneMore(idle)
}

/** True: preempting on a faster core is worth it, even counting the delay of the preempted job. */
function isSooner({ needMs }: Preemption, idle: WorkerRecord, { job }: JobRecord): boolean {
  return needMs * 2 < (job.work / speedForOneMore(idle)) * 1000
}

/** The job that should end first may be late already. */
function coreSoon(ms: number, { needMs, startMs, victim }: Preemption, { job }: JobRecord): Reason {
  const freeMs = thousandths(Math.max(0, ms))
  return {
    ...{ code: 'core-soon', freeMs, needMs: thousandths((needMs - startMs) / speedOf(job)) },
    ...(startMs > 0 && { startMs }),
    insteadOf: victim.job.id,
  }
}

/** The job runs beside others, because nobody knows yet how long such jobs take. */
function shareOf(worker: WorkerRecord): Reason {
  const { jobs, running, cores } = worker
  return running < cores ? coreFree(worker) : { code: 'unproven', jobs: jobs.length, cores }
}

function coreFree({ running, cores }: WorkerRecord): Reason {
  return { code: running < cores ? 'core-free' : 'beside-unproven', running, cores }
}
