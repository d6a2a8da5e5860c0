/** What probes said, for as long as it is worth something, and which of the probed workers is best. */

import type { WorkerRecord } from '../state.ts'

export interface Probe {
  readonly worker: WorkerRecord
  /** Grows with every job that is sent there by this probe. */
  inFlight: number
  readonly latencyMs: number
  readonly at: number
  uses: number
}

export type SavedProbe = Omit<Probe, 'worker'> & { worker: string }

/** Most probes that are kept, how long, and how many are taken out for each job. */
const [most, keptMs, removedPerJob] = [16, 1000, 1]
/** How many more uses than probes there may be. */
const spare = 1
/** A worker is hot that has more in flight than this share of what probes lately said. */
const hotShare = 0.84
/** How many probes the distribution of requests in flight is known from. */
const seenProbes = 128

export class ProbePool {
  /** From the oldest to the newest, one of each worker. */
  #probes: Probe[] = []
  /** In the order of time, and the same in ascending order. */
  #seen: number[] = []
  #sorted: number[] = []
  /** Which is taken out next: the oldest, or else the worst. */
  #oldestNext = true

  get size(): number {
    return this.#probes.length
  }

  /** More in flight than this is hot. */
  get hotAbove(): number {
    return this.#sorted[Math.min(this.#sorted.length - 1, Math.floor(hotShare * this.#sorted.length))] ?? 0
  }

  add(probe: Probe): void {
    this.forget(probe.worker)
    this.#probes.push(probe)
    if (this.#probes.length > most) this.#probes.shift()
    this.#see(probe.inFlight)
  }

  age(now: number): void {
    while (this.#probes.length > 0 && now - this.#probes[0]!.at > keptMs) this.#probes.shift()
  }

  forget(worker: WorkerRecord): void {
    const at = this.#probes.findIndex((probe) => probe.worker === worker)
    if (at >= 0) this.#probes.splice(at, 1)
  }

  /** The cold one that answers soonest, or else the hot one with the fewest in flight; of equals the newest. */
  best(accepts: (worker: WorkerRecord) => boolean): Probe | undefined {
    const { hotAbove } = this
    let best: Probe | undefined
    for (const probe of this.#probes) {
      if (best && isBetter(best, probe, hotAbove)) continue
      if (accepts(probe.worker)) best = probe
    }
    return best
  }

  /** A job goes where this probe says. It may do so for a few, the fewer the more workers there are. */
  use(probe: Probe, workers: number, probesPerJob: number): void {
    probe.inFlight++
    probe.uses++
    const gainedPerJob = (1 - most / workers) * probesPerJob - removedPerJob
    const uses = gainedPerJob > 0 ? Math.max(1, Math.ceil((1 + spare) / gainedPerJob)) : Infinity
    if (probe.uses >= uses) this.forget(probe.worker)
  }

  /** Takes out the oldest and the worst by turns: what was best is used up, so what is left grows worse with time. */
  tidy(): void {
    if (this.#probes.length === 0) return
    if (this.#oldestNext) this.#probes.shift()
    else this.forget(this.#worst().worker)
    this.#oldestNext = !this.#oldestNext
  }

  save() {
    const probes = this.#probes.map((probe): SavedProbe => ({ ...probe, worker: probe.worker.id }))
    return { probes, seen: [...this.#seen], oldestNext: this.#oldestNext }
  }

  load(saved: ReturnType<ProbePool['save']>, workerById: (id: string) => WorkerRecord): void {
    this.#probes = saved.probes.map((probe) => ({ ...probe, worker: workerById(probe.worker) }))
    this.#seen = [...saved.seen]
    this.#sorted = saved.seen.toSorted((a, b) => a - b)
    this.#oldestNext = saved.oldestNext
  }

  #worst(): Probe {
    const { hotAbove } = this
    return this.#probes.reduce((worst, probe) => (isBetter(worst, probe, hotAbove) ? probe : worst))
  }

  #see(inFlight: number): void {
    if (this.#seen.length === seenProbes) this.#sorted.splice(place(this.#sorted, this.#seen.shift()!), 1)
    this.#seen.push(inFlight)
    this.#sorted.splice(place(this.#sorted, inFlight), 0, inFlight)
  }
}

/** Any cold one is better than a hot one. Neither of two that are alike is better. */
function isBetter(a: Probe, b: Probe, hotAbove: number): boolean {
  const [aIsHot, bIsHot] = [a.inFlight > hotAbove, b.inFlight > hotAbove]
  if (aIsHot !== bIsHot) return bIsHot
  if (aIsHot || a.latencyMs === b.latencyMs) return a.inFlight < b.inFlight
  return a.latencyMs < b.latencyMs
}

/** Where a value is, or would be, among ascending ones. */
function place(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
