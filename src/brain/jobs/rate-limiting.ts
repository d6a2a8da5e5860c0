/** Rate limits: a job is paid for by its predicted work when it arrives, and settled by its measured work at the end. */

import type { Concern } from '../core.ts'

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
