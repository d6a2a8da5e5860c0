/** Looks for a job of which the store did not say whether it was written. */

import type { JobStore, StoredJob } from '../store/store.ts'
import type { Timers } from './timers.ts'

/** The write may still go on in the store. */
const waitsMs = [500, 2_000, 10_000, 60_000] as const

/** Calls back once: with undefined if the job is not there after the last look. */
export function lookAgain(
  parts: { store: Pick<JobStore, 'job'>; timers: Timers; id: string },
  then: (job: StoredJob | undefined) => void,
  [ms, ...later]: readonly number[] = waitsMs,
): void {
  if (ms === undefined) return then(undefined)
  parts.timers.after(ms, async () => {
    const job = await parts.store.job(parts.id).catch(() => undefined)
    if (job) then(job)
    else lookAgain(parts, then, later)
  })
}
