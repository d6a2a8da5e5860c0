import { isOpen, type WorkerRecord } from '../state.ts'
import { EmptyWorkers } from './empty.ts'
import { passOver, type SchedulerFactory } from './scheduler.ts'

/** Two workers at random, and of these the one with fewer jobs. */
export const twoChoices: SchedulerFactory = ({ accepts, random }) => {
  const open: WorkerRecord[] = []
  const empty = new EmptyWorkers()
  return {
    name: 'two-choices',
    rank: () => 0,
    refile(worker) {
      empty.refile(worker)
      const place = worker.filed as number | undefined
      if (isOpen(worker) === (place !== undefined)) return
      if (place === undefined) {
        worker.filed = open.length
        open.push(worker)
      } else {
        const last = open.pop()!
        if (last !== worker) {
          open[place] = last
          last.filed = place
        }
        worker.filed = undefined
      }
    },
    place(record) {
      if (open.length === 0) return { reason: { code: 'no-room', openWorkers: 0 } }
      const start = random.below(open.length)
      const a = open[start]!
      const b = open[random.below(open.length)]!
      const [fewer, more] = b.jobs.length < a.jobs.length ? [b, a] : [a, b]
      const reason = { code: 'fewer-of-two', jobs: fewer.jobs.length, other: more.jobs.length }
      if (accepts(fewer, record)) return { worker: fewer, reason }
      // The draw was unlucky: go on from it, so that a job does not wait beside a worker with room.
      const tries = Math.min(open.length, passOver)
      for (let i = 0; i < tries; i++) {
        const worker = open[(start + i) % open.length]!
        if (accepts(worker, record))
          return {
            worker,
            reason: { code: 'fewer-of-two', jobs: worker.jobs.length, other: fewer.jobs.length },
          }
      }
      const worker = open.length > passOver ? empty.first(record, accepts) : undefined
      if (worker) return { worker, reason: { code: 'fewer-of-two', jobs: 0, other: fewer.jobs.length } }
      return { reason: { code: 'no-room', openWorkers: open.length } }
    },
    takes: (worker) => ({ code: 'room', jobs: worker.jobs.length, slots: worker.slots }),
    save: () => ({ order: open.map((worker) => worker.id), random: random.save() }),
    load(saved, workerById) {
      const { order, random: state } = saved as { order: string[]; random: number[] }
      open.length = 0
      for (const id of order) {
        const worker = workerById(id)
        worker.filed = open.length
        open.push(worker)
      }
      random.load(state)
    },
  }
}
