import { isOpen, type WorkerRecord } from '../../brain/state.ts'

/** The open workers, for schedulers that walk them. A worker's index in the list is its `filed`. */
export class OpenList {
  readonly workers: WorkerRecord[] = []

  refile(worker: WorkerRecord): void {
    const index = worker.filed as number | undefined
    if (isOpen(worker) === (index !== undefined)) return
    if (index === undefined) {
      worker.filed = this.workers.length
      this.workers.push(worker)
      return
    }
    const last = this.workers.pop()!
    if (last !== worker) {
      this.workers[index] = last
      last.filed = index
    }
    worker.filed = undefined
  }

  /** The worker itself, if it is open. */
  find(worker: { readonly id: string }): WorkerRecord | undefined {
    const known = worker as WorkerRecord
    return typeof known.filed === 'number' && this.workers[known.filed] === known ? known : undefined
  }
}
