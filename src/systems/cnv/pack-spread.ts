/**
 * Workers carry so much work at most. While they carry little on average, jobs are packed onto as few of them as will do;
 * once they carry much, jobs are spread; in between it stays as it was. What no worker can carry waits, in a lane for
 * each class of work and one for those that are tried again. A job that is too much for any worker is for an idle one.
 */

import { EmptyWorkers } from '../../brain/schedule/empty.ts'
import { passOver, type SchedulerFactory, type WorkClass } from '../../brain/schedule/scheduler.ts'
import { isOpen, type JobRecord, type WorkerRecord } from '../../brain/state.ts'
import { type Entry, Heap } from '../../lib/heap.ts'

interface Filed {
  /** Work of its jobs, as it was predicted; that counts until they end. */
  load: number
  counted: boolean
  /** By load, the least first, and the most first. */
  least: Entry<WorkerRecord>
  most: Entry<WorkerRecord>
}

interface Saved {
  spreads: boolean
  total: number
}

/** All jobs of a worker are one class, and it carries any of them. */
const noClasses: readonly WorkClass[] = [{ name: 'any', mostWork: null }]

export const packSpread: SchedulerFactory = ({ accepts, spec }) => {
  const { mostWork = Infinity, workClasses: classes = noClasses, packBelow = 0.4, spreadAbove = 0.6 } = spec
  const least = new Heap<WorkerRecord>()
  const most = new Heap<WorkerRecord>()
  const empty = new EmptyWorkers()
  let spreads = false
  /** Of ready workers: how many, and what they carry. */
  let ready = 0
  let total = 0

  const filedOf = (worker: WorkerRecord): Filed => {
    worker.filed ??= {
      ...{ load: 0, counted: false },
      ...{ least: { item: worker, at: -1 }, most: { item: worker, at: -1 } },
    } satisfies Filed
    return worker.filed as Filed
  }
  const classOf = ({ job: { work } }: JobRecord): number =>
    classes.findIndex((each) => each.mostWork === null || work <= each.mostWork)
  /** Nothing else runs there, or it does not pass what a worker may carry. */
  const carries = (worker: WorkerRecord, { job }: JobRecord): boolean =>
    worker.jobs.length === 0 || filedOf(worker).load + job.work <= mostWork
  const percentOf = (load: number) => (mostWork < Infinity ? Math.round((load / mostWork) * 100) : 0)

  return {
    name: 'pack-spread',
    // Those that are tried again go first, then the lightest.
    rank: (record) => (record.attempts > (record.functions?.tries ?? 0) ? 0 : 1 + classOf(record)),
    refile(worker) {
      empty.refile(worker)
      const filed = filedOf(worker)
      if (filed.counted) {
        ready--
        total = ready === 0 ? 0 : total - filed.load
      }
      filed.load = worker.jobs.reduce((sum, { job }) => sum + job.work, 0)
      filed.counted = worker.state === 'ready'
      if (filed.counted) {
        ready++
        total += filed.load
      }
      if (isOpen(worker)) {
        least.put(filed.least, filed.load, worker.placedStamp)
        most.put(filed.most, -filed.load, worker.number)
      } else {
        least.remove(filed.least)
        most.remove(filed.most)
      }
    },
    place(record) {
      const average = ready > 0 ? total / ready : 0
      if (average < packBelow * mostWork) spreads = false
      else if (average > spreadAbove * mostWork) spreads = true
      const may = (worker: WorkerRecord) => accepts(worker, record) && carries(worker, record)
      let worker = (spreads ? least : most).find(may, passOver)
      if (!worker && least.size > passOver) worker = least.find(may, passOver) ?? empty.first(record, accepts)
      if (!worker) {
        const name = classes[classOf(record)]!.name
        return {
          reason: { code: 'no-capacity', class: name, work: record.job.work, openWorkers: least.size },
        }
      }
      const percent = percentOf(filedOf(worker).load)
      return {
        worker,
        reason: { code: spreads ? 'spread' : 'pack', percent, averagePercent: percentOf(average) },
      }
    },
    fits: carries,
    takes: (worker) => ({ code: 'capacity', percent: percentOf(filedOf(worker).load) }),
    tells(worker) {
      const counts = classes.map(({ name }, i) => [
        name,
        worker.jobs.filter(({ record }) => classOf(record) === i).length,
      ])
      return { loadPercent: percentOf(filedOf(worker).load), ...Object.fromEntries(counts) }
    },
    save: (): Saved => ({ spreads, total }),
    load(saved) {
      ;({ spreads, total } = saved as Saved)
    },
  }
}
