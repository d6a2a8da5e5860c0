/** Stores a request, so that its client can be told the truth. */

import { StoreError } from '../lib/errors.ts'
import type { Acceptance, Content, JobStore, NewJob } from '../store/store.ts'
import type { KeepOrder } from '../wire/kept.ts'
import type { Timers } from './timers.ts'
import { untilKnown } from './until-known.ts'

/** When the store is asked for a job of which it did not know whether it is stored. */
const looksMs = [1_000, 5_000, 30_000]

/** The job of a request that a front has passed on. */
export function jobOf(
  { workload, client, isRepeatable, method, target, fields, idempotency, webhook }: KeepOrder,
  body: Content,
  facts: Pick<NewJob, 'id' | 'quote' | 'acceptedAt'>,
): NewJob {
  return {
    ...{ ...facts, workload, client, isRepeatable, request: { method, target, fields, body } },
    ...(idempotency && { idempotency }),
    ...(webhook !== undefined && { webhook }),
  }
}

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

/** Calls back when the store has said a few times that it does not have the job, or once that it has. */
export function findAccepted(
  store: Pick<JobStore, 'job'>,
  id: string,
  timers: Timers,
  then: (isStored: boolean) => void,
  looks = 0,
): void {
  const ms = looksMs[looks]
  if (ms === undefined) return then(false)
  timers.after(ms, async () => {
    const job = await store.job(id).catch(() => null)
    if (job) return then(true)
    // Null: the store cannot say.
    findAccepted(store, id, timers, then, job === null ? looks : looks + 1)
  })
}
