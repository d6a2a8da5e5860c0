/** Collects the figures of one policy's runs for a report. */

import type { RunHooks } from '../simulate.ts'
import type { World } from '../world.ts'
import { bucketOf, edgeOf, Histogram } from './histogram.ts'
import { Timeline } from './timeline.ts'

/** Size groups per decade. */
const groupsPerDecade = 4
/** Groups with fewer jobs have no meaningful median, or no meaningful 99th percentile. */
const leastForMedian = 10
export const leastForP99 = 200

export interface SizeGroup {
  sizeMs: number
  median: number
  p99: number | undefined
}

export class PolicyRecord {
  readonly name: string
  readonly responseMs = new Histogram()
  readonly #slowdownBySize = new Map<number, Histogram>()
  readonly #timeline = new Timeline(3)
  readonly #jobs: number
  #arrived = 0
  #present = 0
  #lastArrivalMs = 0

  /** `jobs`: the expected number per run. */
  constructor(name: string, jobs: number) {
    this.name = name
    this.#jobs = jobs
  }

  /** Hooks for each run; timelines are recorded in the first run only. */
  hooks(first: boolean): Pick<RunHooks, 'answered' | 'settled'> {
    const answered = (sizeMs: number, responseMs: number) => this.#answer(sizeMs, responseMs)
    return first ? { answered, settled: (world) => this.#settle(world) } : { answered }
  }

  /** By job size in milliseconds, ascending. */
  slowdowns(): SizeGroup[] {
    return [...this.#slowdownBySize]
      .sort(([a], [b]) => a - b)
      .filter(([, histogram]) => histogram.count >= leastForMedian)
      .map(([group, histogram]) => ({
        sizeMs: edgeOf(group + 0.5, groupsPerDecade),
        median: histogram.quantile(0.5),
        p99: histogram.count >= leastForP99 ? histogram.quantile(0.99) : undefined,
      }))
  }

  /** The arrival of the last job; afterwards the run only winds down. */
  get untilMs(): number {
    return this.#lastArrivalMs
  }

  /** Jobs without their own core: queued, paused, or sharing a core. */
  waiting(): [ms: number, jobs: number][] {
    return this.#timeline.means(0, this.#lastArrivalMs)
  }

  busyCores(): [ms: number, cores: number][] {
    return this.#timeline.means(1, this.#lastArrivalMs)
  }

  /** Cores of ready workers. */
  readyCores(): [ms: number, cores: number][] {
    return this.#timeline.means(2, this.#lastArrivalMs)
  }

  #answer(sizeMs: number, responseMs: number): void {
    this.responseMs.add(responseMs)
    const group = bucketOf(sizeMs, groupsPerDecade)
    let slowdowns = this.#slowdownBySize.get(group)
    if (!slowdowns) {
      slowdowns = new Histogram()
      this.#slowdownBySize.set(group, slowdowns)
    }
    slowdowns.add(responseMs / sizeMs)
  }

  #settle(world: World): void {
    const { now } = world.clock
    const present = world.truths.size
    const arrives = present > this.#present
    this.#present = present
    if (arrives) {
      this.#arrived++
      this.#lastArrivalMs = now
    } else if (this.#arrived >= this.#jobs) return
    const ready = world.nodes.size - world.draining.size
    const { cores } = world.parts.fleet
    this.#timeline.set(now, present - world.busyCores, world.busyCores, ready * cores)
  }
}
