/** Requests that fronts had answered on behalf of the brain. They count for scaling and in totals. */

import type { Event } from '../../model/event.ts'
import type { Core } from '../core.ts'
import { noteArrival } from '../workers/scaling.ts'

export function noteDelegated(core: Core, { jobs, work }: Extract<Event, { type: 'delegated' }>): void {
  core.counters.accepted += jobs
  core.counters.results += jobs
  for (let i = 0; i < jobs; i++) noteArrival(core, work / jobs)
}
