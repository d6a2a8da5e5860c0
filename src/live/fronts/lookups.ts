/** Stored costs are looked up before a request arrives at the brain. Messages about it wait meanwhile, in order. */

export class Lookups {
  readonly #waiting = new Map<string, (() => void)[]>()

  /** Calls `arrive` when `lookup` has ended, however it ended. Without a lookup: at once. */
  begin(job: string, lookup: Promise<void> | undefined, arrive: () => void): void {
    if (!lookup) return arrive()
    const waiting = [arrive]
    this.#waiting.set(job, waiting)
    const end = () => {
      this.#waiting.delete(job)
      for (const step of waiting) step()
    }
    lookup.then(end, end)
  }

  /** Calls `step` when the job has arrived, or at once. */
  after(job: string, step: () => void): void {
    const waiting = this.#waiting.get(job)
    if (waiting) waiting.push(step)
    else step()
  }
}
