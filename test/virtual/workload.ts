/** The workload of virtual clusters: its parameters, what checking them costs, and its right results. */

import { defineWorkload, type Workload } from '../../src/workload/workload.ts'
import type { VirtualTime } from './time.ts'

/** What checking a byte of parameters costs: about a second for a megabyte. */
const checkMs = 1e-3

/** What a virtual job does. */
export interface JobParams {
  request: number
  /** It waits this long, for something that is not the processor, before it computes. Null: forever. */
  waitMs: number | null
  runMs: number
  answerBytes: number
  safeToRepeat: boolean
  /** Makes the parameters long. */
  padding: string
}

/** The right result of a request. */
export function resultOf(request: number): number {
  return request * 7 + 3
}

export const workloadName = 'job'

/** Checking parameters takes time of the process that does it. */
export function virtualWorkload(time: VirtualTime): Workload {
  return defineWorkload<JobParams>({
    name: workloadName,
    description: 'passes time',
    params: {
      '~standard': {
        version: 1,
        vendor: 'virtual',
        validate(value) {
          const params = value as JobParams
          time.charge(checkMs * (params.padding?.length ?? 0))
          if (typeof params.runMs === 'number') return { value: params }
          return { issues: [...params.padding].map((_, i) => ({ message: 'is wrong', path: [`field${i}`] })) }
        },
      },
    },
    safeToRepeat: ({ safeToRepeat }) => safeToRepeat,
    features: ({ runMs }) => ({ runMs }),
    run: () => {},
  }) as Workload
}
