/** What observes the events and actions of a live brain: stories of jobs, the story of the fleet, and costs. */

import { stackOf } from '../lib/errors.ts'
import { FleetStory } from '../story/fleet-story.ts'
import { Bill } from '../story/money.ts'
import { Stories } from '../story/stories.ts'
import type { DriverParts } from './brain-driver.ts'
import type { OpenJobs } from './open-jobs.ts'
import type { ClusterPlan } from './plan.ts'
import type { Records } from './records.ts'

export interface Observers {
  stories: Stories
  fleetStory: FleetStory
  bill: Bill
  all: DriverParts['observers']
}

export function observersOf(
  { prices, functions }: ClusterPlan,
  { rates, components, log }: Pick<Records, 'rates' | 'components' | 'log'>,
  jobs: OpenJobs,
): Observers {
  const stories = new Stories({
    known({ id, workload }) {
      const job = jobs.get(id)
      if (!job) return undefined
      const { quote } = job.parts
      // Overhead is a time: the workload's rate, at which its work is done, does not apply to it.
      const expectedMs = rates.seconds('', workload, quote.work) * 1000 + (quote.overhead?.expected ?? 0)
      return { quote, expectedMs, cpuMs: job.cost?.cpuMs }
    },
  })
  const fleetStory = new FleetStory()
  const bill = new Bill(prices, functions?.limits.memoryMb)
  const all = [stories, fleetStory, bill, ...(components ? [components] : [])]
  return { stories, fleetStory, bill, all: all.map((observer) => guarded(observer, log)) }
}

type Observer = DriverParts['observers'][number]

/** An observer that throws is logged once: what it tells may be wrong from then on, but jobs are served. */
export function guarded(observer: Observer, log: (line: string) => void): Observer {
  let hasFailed = false
  return {
    observe(event, actions, now) {
      try {
        observer.observe(event, actions, now)
      } catch (error) {
        if (!hasFailed) log(`internal error: an observer of the brain failed: ${stackOf(error)}`)
        hasFailed = true
      }
    },
  }
}
