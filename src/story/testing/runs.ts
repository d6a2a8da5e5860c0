/** Jobs in virtual time and their stories, for tests. */

import { disciplines } from '../../model/discipline.ts'
import type { Job } from '../../model/job.ts'
import { rank } from '../../simulate/clock.ts'
import type { FleetSpec } from '../../simulate/environment.ts'
import { unitsPerSecond } from '../../simulate/simulate.ts'
import { World, type WorldParts } from '../../simulate/world.ts'
import { type WhyDocument, whyDocument } from '../document.ts'
import { Stories, type StoriesOptions } from '../stories.ts'

/** Work that takes `ms`: in simulations a unit is a microsecond. */
export const taking = (ms: number) => (ms * unitsPerSecond) / 1000

export interface SceneOptions {
  workers?: number
  fleet?: Partial<FleetSpec>
  brain?: Partial<WorldParts['brain']>
  stories?: StoriesOptions
}

/** A simulated world whose stories are collected from the start. Workers are named w1-1, w1-2, … */
export class Scene {
  readonly stories: Stories
  readonly world: World
  readonly #chunks: Buffer[] = []

  constructor({ workers = 1, fleet, brain, stories }: SceneOptions = {}) {
    this.stories = new Stories(stories)
    this.world = new World({
      brain: {
        ...{
          scheduler: 'srpt',
          discipline: 'srpt',
          scale: { min: workers, max: workers },
          epoch: 1,
          seed: 1,
        },
        ...{ limits: {}, ...brain },
      },
      seed: 1,
      fleet: { cores: 1, workPerSecond: unitsPerSecond, memoryMb: 1000, slots: 10, bootMs: 0, ...fleet },
      log: (chunk) => this.#chunks.push(Buffer.from(chunk)),
      observer: { observe: (event, actions, now) => this.stories.observe(event, actions, now) },
    })
    this.world.begin()
    this.run(0)
  }

  /** Submits a job at a time, with an expected running time of `ms` and an actual one of `reallyMs`. */
  job(id: string, at: number, ms: number, more: Partial<Job> & { reallyMs?: number } = {}): void {
    const { reallyMs = ms, ...fields } = more
    const job = { id, workload: 'sim', work: taking(ms), memoryMb: 0, ...fields }
    this.at(at, () => this.world.submit(job, taking(reallyMs)))
  }

  at(at: number, what: () => void): void {
    this.world.clock.at(at, rank.arrival, what)
  }

  /** Advances virtual time. */
  run(until: number): void {
    this.at(until, () => {})
    while (this.world.clock.step(until)) {
      // `step` does all the work.
    }
  }

  why(job: string): WhyDocument {
    const { bounded } = disciplines[this.world.parts.brain.discipline]
    return whyDocument(this.stories.of(job)!, { bounded, now: this.world.clock.now })
  }

  /** The event log so far, line by line. */
  lines(): string[] {
    this.world.flushLog()
    return Buffer.concat(this.#chunks).toString().trimEnd().split('\n')
  }
}
