/** What a workload receives: its checked parameters, and the context of its job. */
import { Refusal } from '../../workload/refusal.ts'
import { check } from '../../workload/standard-schema.ts'
import type { JobContext, RequestBody, Workload } from '../../workload/workload.ts'
import type { SlotMeter } from './slot-meter.ts'

export interface JobSide {
  dataDir: string
  body: RequestBody
  /** Undefined: nothing is metered. */
  meter: SlotMeter | undefined
  /** Code that keeps running after its job ended must not count for the next job. */
  isOver(): boolean
  /** Receives a number from 0 to 1. */
  progress(fraction: number): void
  uninterrupted: JobContext['uninterrupted']
}

/** Its functions work without their object: workloads take it apart. */
export function jobContext(
  { job, attempt }: { job: string; attempt: number },
  { dataDir, body, meter, isOver, progress, uninterrupted }: JobSide,
): JobContext {
  return {
    ...{ jobId: job, attempt, dataDir, body },
    progress: (fraction) => {
      if (typeof fraction !== 'number' || Number.isNaN(fraction)) {
        throw new TypeError(`progress(${fraction}): must be a number from 0 to 1`)
      }
      progress(Math.min(1, Math.max(0, fraction)))
    },
    charge: (units) => {
      if (typeof units !== 'number' || !(units >= 0 && units < Infinity)) {
        throw new TypeError(`charge(${units}): must be a finite number of at least 0`)
      }
      if (!isOver()) meter?.charge(units)
    },
    steps: (count) => {
      if (typeof count !== 'number' || !(count >= 0 && count < Infinity)) {
        throw new TypeError(`steps(${count}): must be a finite number of at least 0`)
      }
      if (!isOver()) meter?.steps(count)
    },
    uninterrupted,
    log: (...values) => console.log(...values),
  }
}

/** Checks again even if the front did: a schema may produce values that JSON cannot represent, such as dates. */
export async function checkedParams(workload: Workload, params: unknown): Promise<unknown> {
  if (!workload.params) return params
  const checked = await check(workload.params, params)
  if ('value' in checked) return checked.value
  throw new Refusal(400, checked.issues.join(' · '))
}
