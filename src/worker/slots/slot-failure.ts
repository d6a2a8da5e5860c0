/** Explains why a job in a slot has no result. */
import type { JobFailure } from '../job-run.ts'
import type { SlotEnd } from './slot.ts'

export interface JobMemory {
  usedMb: number
  limitMb: number
}

export function memoryFailure(reason: string, { usedMb, limitMb }: JobMemory): JobFailure {
  const used = Math.ceil(usedMb)
  return {
    kind: 'limit',
    message: `out of memory: ${reason}; it used ${used} MB, and a job may use ${limitMb} MB`,
  }
}

export function slotFailure(
  { how, unloadable, failure, outOfMemory, killed, broken }: SlotEnd,
  workload: string,
  memory: JobMemory,
): JobFailure {
  if (outOfMemory) return memoryFailure('its JavaScript heap is full', memory)
  if (failure?.kind === 'limit') return memoryFailure(failure.message, memory)
  if (unloadable !== undefined)
    return { kind: 'crash', message: `the workloads cannot be loaded: ${unloadable}` }
  if (broken) return { kind: 'crash', message: `the process of workload ${workload} sent invalid messages` }
  const reason = failure ? `threw an uncaught exception: ${failure.message}` : how
  const kind = killed && !failure ? 'killed' : 'crash'
  return { kind, message: `the process of workload ${workload} ${reason}` }
}
