/** Describes a kept job as of now: what the store, the keeper and the cluster know of it. */

import type { StoredJob } from '../store/store.ts'
import type { Caller } from './callers.ts'
import type { ClusterView } from './cluster-view.ts'
import { documentOf, type JobDocument } from './documents.ts'
import type { OpenJob } from './open-jobs.ts'

export interface DescribeParts {
  /** Undefined: this cluster does not run the jobs of the store. */
  keeper(): { standing(id: string): OpenJob | undefined } | undefined
  view: ClusterView
  now(): number
}

export async function describeJob(
  { keeper, view, now }: DescribeParts,
  job: StoredJob,
  caller?: Caller,
): Promise<JobDocument> {
  const open = job.state === 'open' ? keeper()?.standing(job.id) : undefined
  const place = open?.job === undefined ? undefined : await view.place(open.job)
  const document = documentOf(job, { open, place, now: now() })
  const isOperator = caller !== undefined && caller.client === undefined
  return isOperator ? { ...document, client: job.client } : document
}

/** Why an open job is where it is, in words. */
export async function reasonsOf(
  { keeper, view }: Omit<DescribeParts, 'now'>,
  { id, state }: StoredJob,
): Promise<{ why?: readonly string[] }> {
  const open = state === 'open' ? keeper()?.standing(id) : undefined
  if (!open) return {}
  if (open.job !== undefined) {
    const why = await view.why(open.job)
    return why && why.length > 0 ? { why } : {}
  }
  if (open.waitsFor !== undefined) return { why: [`the cluster refused it for now: ${open.waitsFor}`] }
  return open.abort
    ? {}
    : { why: ['it waits until the cluster has done kept jobs that were accepted before'] }
}

/** What is noted of a job that is cancelled: where it was, and how much work is saved. */
export function cancelFacts({ state, progress, quote, attempts }: JobDocument): object {
  const { work } = (quote ?? {}) as { work?: unknown }
  const isKnown = typeof work === 'number' && work >= 0
  // What a function has done is not known, so all that was expected counts.
  const expected = isKnown ? { saved: work, ...(state !== 'running' && { done: 0 }) } : {}
  return {
    ...(progress ? { done: progress.done, saved: progress.remaining } : expected),
    was: state,
    ...(attempts !== undefined && { attempts }),
  }
}
