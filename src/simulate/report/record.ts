/** Collects from the runs of one policy what a report shows of it. */

import type { RunHooks } from '../simulate.ts'
import type { World } from '../world.ts'
import { bucketOf, edgeOf, Histogram } from './histogram.ts'
import { Timeline } from './timeline.ts'

/** Sizes are gathered in so many groups a decade. */
const groupsPerDecade = 4
/** Fewer jobs in a group than these have no median, or no 99th percentile, worth a dot. */
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

  /** `jobs`: how many a run is expected to have. */
  constructor(name: string, jobs: number) {
    this.name = name
    this.#jobs = jobs
  }

  /** To be given to each run; what changes over time is taken from the first one only. */
  hooks(first: boolean): Pick<RunHooks, 'answered' | 'settled'> {
    const answered = (sizeMs: number, responseMs: number) => this.#answer(sizeMs, responseMs)
    return first ? { answered, settled: (world) => this.#settle(world) } : { answered }
  }

  /** By size of jobs in milliseconds, ascending. */
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

  /** Until the last job arrived: what comes after is only the end of the run. */
  get untilMs(): number {
    return this.#lastArrivalMs
  }

  /** Jobs that do not have a core of their own: in the queue, paused, or sharing a core. */
  waiting(): [ms: number, jobs: number][] {
    return this.#timeline.means(0, this.#lastArrivalMs)
  }

  busyCores(): [ms: number, cores: number][] {
    return this.#timeline.means(1, this.#lastArrivalMs)
  }

  /** Of workers that are ready. */
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
