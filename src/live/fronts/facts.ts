/** What the cluster makes of a request that a front elsewhere tells it of: a job, with what it is expected to cost. */

import type { Estimator, Question } from '../../estimate/estimator.ts'
import type { RouteUnits } from '../../estimate/route-units.ts'
import type { OpenJob } from '../../front/open-job.ts'
import { ProtocolError } from '../../lib/errors.ts'
import type { Arrival, Asked } from '../../wire/front-messages.ts'

export interface FactsParts {
  estimator: Estimator
  /** Hashes of code by what costs are learned of. */
  code: Readonly<Record<string, string>>
  /** Of an own server. */
  units: RouteUnits | undefined
  /** True: that front is a node to which the brain gave the role. */
  isNode(front: string): boolean
  now(): number
}

export interface FactsMaker {
  questionOf(asked: Asked): Question
  factsOf(arrival: Arrival, front: string): { facts: OpenJob['parts']; estimateMs: number }
}

export function factsMaker({ estimator, code, units, isNode, now }: FactsParts): FactsMaker {
  function questionOf({ workload, key, features, params = {} }: Asked): Question {
    const hash = code[workload]
    if (hash === undefined) throw new ProtocolError(`there is no workload ${workload}`)
    return { workload, codeHash: units?.codeOf(workload) ?? hash, key, params, features }
  }

  return {
    questionOf,
    factsOf(arrival, front) {
      const began = performance.now()
      const { job: id, workload, params, hasBody, client, lane } = arrival
      const { deadlineMs, safeToRepeat, preemptible } = arrival
      const question = questionOf(arrival)
      const quote = estimator.estimate(question)
      const inUnits = (work: number) => units?.inMicroseconds(workload, work) ?? work
      const job = {
        id,
        workload,
        work: inUnits(quote.work),
        low: inUnits(quote.low),
        high: inUnits(quote.high),
        memoryMb: quote.memoryMb,
        ...(client !== undefined && { client }),
        ...(lane !== undefined && { lane }),
        ...(isNode(front) && { front }),
        ...(deadlineMs !== undefined && { deadlineAt: now() + deadlineMs }),
        ...(safeToRepeat === false && { safeToRepeat }),
        ...(preemptible === false && { preemptible }),
      }
      const estimateMs = performance.now() - began
      return { facts: { job, question, quote, params, hasBody }, estimateMs }
    },
  }
}
