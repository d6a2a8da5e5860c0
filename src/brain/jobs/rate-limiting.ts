/** Rate limits: a job is paid for by its predicted work when it arrives, and settled by its measured work at the end. */

import type { Allowance } from '../../model/allowance.ts'
import type { Concern, Core } from '../core.ts'
import type { JobRecord } from '../state.ts'

export const rateLimiting: Concern = {
  name: 'rate limits',
  isActive: ({ rateLimits }) => rateLimits !== undefined,
  arrives({ rateLimits, now }, record) {
    const refused = rateLimits!.take(record.client, record.job.work, now)
    // An earlier brain has accepted it, and its client has paid there.
    if (refused) return record.isAdopted ? undefined : { refused }
    record.paid = record.job.work
    return undefined
  },
  over({ rateLimits, now }, { client, spent, paid }) {
    rateLimits!.adjust(client, spent - paid, now)
  },
}

/** What the job's client has left while the job runs. Undefined: it has no limit. */
export function allowanceOf({ rateLimits, now }: Core, { client }: JobRecord): Allowance | undefined {
  return rateLimits?.allowance(client, 0, now)
}

/** The same once the job, which nobody runs, is rejected: what it has not used is refunded. */
export function allowanceAfter(
  { rateLimits, now }: Core,
  { client, paid, spent }: JobRecord,
): Allowance | undefined {
  return rateLimits?.allowance(client, paid - spent, now)
}
