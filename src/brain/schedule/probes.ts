/** Recent probe results, and the best of the probed workers. */

import type { WorkerRecord } from '../state.ts'

export interface Probe {
  readonly worker: WorkerRecord
  /** Grows with every job sent there because of this probe. */
  inFlight: number
  readonly latencyMs: number
  readonly at: number
  uses: number
}

/** The size of the pool, how long a probe stays in it, and how many each job removes. */
const [most, keptMs, removedPerJob] = [16, 1000, 1]
/** The reserve by which uses may exceed probes. */
const spare = 1
/** A worker is hot if it has more in flight than this share of recent probes. */
const hotShare = 0.84
/** The number of probes in the distribution of requests in flight. */
const seenProbes = 128

export class ProbePool {
  /** The oldest first, at most one of each worker. */
  readonly #probes: Probe[] = []
  /** By time, and the same in ascending order. */
  readonly #seen: number[] = []
  readonly #sorted: number[] = []
  /** True: the next to be removed is the oldest; false: the worst. */
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

  /** The cold worker with the lowest latency, or else the hot one with the fewest in flight; of equals the newest. */
  best(accepts: (worker: WorkerRecord) => boolean): Probe | undefined {
    const { hotAbove } = this
    let best: Probe | undefined
    for (const probe of this.#probes) {
      if (best && isBetter(best, probe, hotAbove)) continue
      if (accepts(probe.worker)) best = probe
    }
    return best
  }

  /** A job follows this probe. A probe serves a limited number of jobs, which falls with the number of workers. */
  use(probe: Probe, workers: number, probesPerJob: number): void {
    probe.inFlight++
    probe.uses++
    const gainedPerJob = (1 - most / workers) * probesPerJob - removedPerJob
    const uses = gainedPerJob > 0 ? Math.max(1, Math.ceil((1 + spare) / gainedPerJob)) : Infinity
    if (probe.uses >= uses) this.forget(probe.worker)
  }

  /** Removes the oldest and the worst alternately: the best are used up, so the rest gets worse over time. */
  tidy(): void {
    if (this.#probes.length === 0) return
    if (this.#oldestNext) this.#probes.shift()
    else this.forget(this.#worst().worker)
    this.#oldestNext = !this.#oldestNext
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

/** Any cold worker is better than a hot one. Neither of two equals is better. */
function isBetter(a: Probe, b: Probe, hotAbove: number): boolean {
  const [aIsHot, bIsHot] = [a.inFlight > hotAbove, b.inFlight > hotAbove]
  if (aIsHot !== bIsHot) return bIsHot
  if (aIsHot || a.latencyMs === b.latencyMs) return a.inFlight < b.inFlight
  return a.latencyMs < b.latencyMs
}

/** The index of a value, or where it would be, among ascending values. */
function place(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}
