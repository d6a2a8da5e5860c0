/** Removes what is not to be kept, in statements that take a few milliseconds. */
import type { Retention } from '../store.ts'
import type { Database } from './database.ts'
import type { Reads } from './reads.ts'
import { dropAbandoned, forgetJobs, removeResults } from './statements.ts'
import { ledBy } from './writes.ts'

interface Sweep {
  epoch: number
  now: number
  retention: Retention
}

const stepRows = 200

/** Resolves with the number of removed results. */
export async function sweep(db: Database, reads: Reads, { epoch, now, retention }: Sweep): Promise<number> {
  await db.write(dropAbandoned, [epoch])
  const { results: upTo, jobs } = await reads.oldestToRemove(now, retention)
  const forgetBefore = now - retention.rememberMs
  for (let removed = 0; ; ) {
    const step = await ledBy<{ jobs: number; results: number }>(db, epoch, removeResults, [
      ...[epoch, upTo.endedAt, upTo.seq, stepRows],
    ])
    removed += step.results
    const forgotten = await ledBy<{ jobs: number }>(db, epoch, forgetJobs, [
      ...[epoch, forgetBefore, jobs.endedAt, jobs.seq, stepRows],
    ])
    if (step.jobs < stepRows && forgotten.jobs < stepRows) return removed
  }
}
