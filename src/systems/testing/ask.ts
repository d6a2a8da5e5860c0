/** Questions as the workloads ask them. */

import { readParams } from '../../../workloads/testing/params.ts'
import type { Question } from '../../estimate/estimator.ts'
import type { Features } from '../../model/estimate.ts'
import type { Workload } from '../../workload/workload.ts'

export function ask<P>(
  workload: Workload<P>,
  input: Record<string, unknown>,
  head: Uint8Array = new Uint8Array(),
): Question {
  const params = readParams(workload, input)
  const features = workload.features?.(params, { bytes: head.length, head }) ?? (params as Features)
  return { workload: workload.name, codeHash: 'code', key: JSON.stringify(input), params, features }
}
