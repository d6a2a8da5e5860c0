/** Turns a request that a front process announces into a job with an estimate. */

import { brainEstimate } from '../../estimate/brain-estimate.ts'
import type { Estimator, Question } from '../../estimate/estimator.ts'
import type { RouteUnits } from '../../estimate/route-units.ts'
import type { JobParts } from '../../front/open-job.ts'
import { RequestProblem } from '../../front/problem.ts'
import type { Arrival, Asked, ToldProblem } from '../../wire/front-messages.ts'

export interface ArrivalsParts {
  estimator: Estimator
  /** Read for each request: versions change. */
  serving: {
    /** Hashes of code, by workload or route. */
    readonly code: Readonly<Record<string, string>>
    /** Of an existing server. */
    readonly units?: RouteUnits
  }
  /** True: the front is a worker to which the brain gave that role. */
  isWorker(front: string): boolean
  now(): number
}

export interface EstimatedJob {
  facts: JobParts
  estimateMs: number
}

export interface Arrivals {
  questionOf(asked: Asked): Question
  /** The estimator's lookup in its store. Undefined: it has none. Never rejects. */
  look: ((asked: Asked) => Promise<void>) | undefined
  jobOf(arrival: Arrival, front: string): EstimatedJob
}

export function arrivals({ estimator, serving, isWorker, now }: ArrivalsParts): Arrivals {
  const { units } = serving

  function questionOf({ workload, key, features, params = {} }: Asked): Question {
    const hash = serving.code[workload]
    if (hash === undefined)
      throw new RequestProblem(404, 'unknown-workload', `There is no workload ${workload} any more.`)
    return { workload, codeHash: units?.codeOf(workload) ?? hash, key, params, features }
  }

  async function lookUp(asked: Asked): Promise<void> {
    // `jobOf` rejects what is not served any more.
    if (serving.code[asked.workload] !== undefined) await estimator.look?.(questionOf(asked))
  }

  return {
    questionOf,
    look: estimator.look && lookUp,
    jobOf(arrival, front) {
      const began = performance.now()
      const { job: id, workload, params, hasBody, client, lane } = arrival
      const { deadlineMs, safeToRepeat, preemptible } = arrival
      const question = questionOf(arrival)
      const quote = estimator.estimate(question)
      const inMicroseconds = (work: number) => units?.inMicroseconds(workload, work) ?? work
      const { work, low, high, unproven } = brainEstimate(quote)
      const job = {
        id,
        workload,
        work: inMicroseconds(work),
        low: inMicroseconds(low),
        high: inMicroseconds(high),
        memoryMb: quote.memoryMb,
        ...(client !== undefined && { client }),
        ...(lane !== undefined && { lane }),
        ...(isWorker(front) && { front }),
        ...(deadlineMs !== undefined && { deadlineAt: now() + deadlineMs }),
        ...(safeToRepeat === false && { safeToRepeat }),
        ...(preemptible === false ? { preemptible } : unproven && { unproven }),
      }
      const estimateMs = performance.now() - began
      return { facts: { job, question, quote, params, hasBody }, estimateMs }
    },
  }
}

/** Why a request cannot be accepted, for its client. */
export function toldProblem(error: Error, log: (line: string) => void): ToldProblem {
  const { message } = error
  if (error instanceof RequestProblem) {
    const { status, code, headers } = error
    return { status, code, message, headers: { ...headers } }
  }
  log(`a request cannot be accepted: ${message}`)
  const told = `The cluster cannot accept this request: ${message}.`
  return { status: 500, code: 'internal', message: told, headers: {} }
}
