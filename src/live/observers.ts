/** What observes the events and actions of a live brain: stories of jobs, the story of the fleet, and costs. */

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
  { rates, components }: Pick<Records, 'rates' | 'components'>,
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
  return { stories, fleetStory, bill, all: [stories, fleetStory, bill, ...(components ? [components] : [])] }
}
