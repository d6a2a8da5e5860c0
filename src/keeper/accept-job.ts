/** Stores a request, so that its client can be told the truth. */

import { StoreError } from '../lib/errors.ts'
import type { Acceptance, JobStore, NewJob } from '../store/store.ts'
import { untilKnown } from './until-known.ts'

/** The store accepts a job once under the same id, so a repeat tells whether the first try was written. */
export function acceptJob(
  store: Pick<JobStore, 'accept' | 'job'>,
  epoch: number,
  job: NewJob,
  pause: (ms: number) => Promise<void>,
): Promise<Acceptance> {
  return untilKnown(async (isRepeat) => {
    if (!isRepeat || job.request.body instanceof Uint8Array) return store.accept(epoch, job)
    // A body that arrived in parts is gone.
    if (await store.job(job.id)) return { kind: 'accepted' }
    throw new StoreError('the request was not stored, and its body cannot be read again')
  }, pause)
}
