/** Records in the ledger what is counted of each request, while it runs and when it ends. */

import type { OpenJob } from '../front/open-job.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { MetricsRow } from '../ledger/metrics.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { WorkDone } from '../model/cost.ts'
import type { Instances } from '../systems/system-tables.ts'
import type { OpenJobs } from './open-jobs.ts'

export interface MetricsRecorder {
  /** A worker reports the counts of an attempt. */
  counted(worker: string, message: AttemptToken & WorkDone): void
  /** An attempt has been sent. */
  attemptBegan(job: OpenJob): void
  /** The job has ended, or a new attempt supersedes the last one. */
  attemptEnded(job: OpenJob): void
  workerGone(worker: string): void
}

export interface RecordedIn {
  ledger: Ledger
  instances?: Instances | undefined
}

/**
 * `fromStart`: there is a row from the first attempt on, keyed by the parameters as the workload receives them and, if
 * there is a body, by its size and hash.
 */
export function metricsRecorder(
  { ledger, instances }: RecordedIn,
  serving: { readonly code: Readonly<Record<string, string>> },
  jobs: Pick<OpenJobs, 'current'>,
  fromStart = false,
): MetricsRecorder {
  function record(open: OpenJob, done: WorkDone, running: boolean): void {
    const { job, hasBody, question } = open.parts
    // With a body, parameters alone do not identify the request.
    if (hasBody && !fromStart) return
    const body = hasBody ? { body: question.key.split(' ').slice(-2).join(' ') } : {}
    const asked = { ...(question.params as object), ...body }
    const row: MetricsRow = {
      workload: job.workload,
      codeHash: serving.code[job.workload] ?? '',
      parameters: (fromStart && jsonOf(asked)) || question.key,
      work: done.work,
      tally: JSON.stringify(done.tally ?? {}),
      running,
      ...ownerOf(open),
      at: Date.now(),
    }
    ledger.recordMetrics(row)
  }

  // Attempts of an earlier run of this cluster have ended.
  ledger.releaseMetrics({})
  return {
    attemptBegan(job) {
      if (fromStart) record(job, { work: 0 }, true)
      const { worker, attempt } = ownerOf(job)
      instances?.began(worker, attempt, job.parts.job.work)
    },
    counted(worker, message) {
      const job = jobs.current(worker, message)
      if (!job) return
      record(job, message, true)
      instances?.progressed(worker, ownerOf(job).attempt, message.work, job.parts.job.work)
    },
    attemptEnded(job) {
      if (job.outcome === 'result' && job.cost) record(job, job.cost, false)
      else if (job.attempts > 0) ledger.releaseMetrics(ownerOf(job))
      const { worker, attempt } = ownerOf(job)
      instances?.ended(worker, attempt)
    },
    workerGone(worker) {
      ledger.releaseMetrics({ worker })
      instances?.gone(worker)
    },
  }
}

/** Undefined: a schema has made values of them that JSON does not have, such as a bigint. */
function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

function ownerOf({ worker, attempts, parts }: OpenJob): { worker: string; attempt: string } {
  return { worker, attempt: `${parts.job.id}/${attempts}` }
}
