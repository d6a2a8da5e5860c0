import type { Random } from '../../lib/random.ts'
import { isOpen, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { hasRoom, passOver, type SchedulerFactory, type Verdict } from './scheduler.ts'

/** Two workers at random, and of these the one with fewer jobs. */
export const twoChoices: SchedulerFactory = ({ accepts, random }) => {
  const open: WorkerRecord[] = []
  const empty = new EmptyWorkers()
  return {
    name: 'two-choices',
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      refileIn(open, worker)
    },
    place(record) {
      if (open.length === 0) return noRoom(open)
      const start = random.below(open.length)
      const [fewer, more] = drawTwo(open, start, random)
      if (accepts(fewer, record)) return fewerJobs(fewer, more)
      // An unlucky draw must not leave the job queued beside a worker with room.
      const tries = Math.min(open.length, passOver)
      for (let i = 0; i < tries; i++) {
        const worker = open[(start + i) % open.length]!
        if (accepts(worker, record)) return fewerJobs(worker, fewer)
      }
      const worker = open.length > passOver ? empty.first(record, accepts) : undefined
      return worker ? fewerJobs(worker, fewer) : noRoom(open)
    },
    takes: hasRoom,
  }
}

function drawTwo(open: readonly WorkerRecord[], start: number, random: Random): [WorkerRecord, WorkerRecord] {
  const a = open[start]!
  const b = open[random.below(open.length)]!
  return b.jobs.length < a.jobs.length ? [b, a] : [a, b]
}

function fewerJobs(worker: WorkerRecord, other: WorkerRecord): Verdict {
  return { worker, reason: { code: 'fewer-of-two', jobs: worker.jobs.length, other: other.jobs.length } }
}

function noRoom(open: readonly WorkerRecord[]): Verdict {
  return { reason: { code: 'no-room', openWorkers: open.length } }
}

/** A worker's index in the list is its `filed`. */
function refileIn(open: WorkerRecord[], worker: WorkerRecord): void {
  const place = worker.filed as number | undefined
  if (isOpen(worker) === (place !== undefined)) return
  if (place === undefined) {
    worker.filed = open.length
    open.push(worker)
    return
  }
  const last = open.pop()!
  if (last !== worker) {
    open[place] = last
    last.filed = place
  }
  worker.filed = undefined
}
