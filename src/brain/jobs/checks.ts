/** Rejects impossible facts about jobs and workers: a number that is not one would spoil the order of every heap. */

import { ContractError } from '../../lib/errors.ts'
import type { Job } from '../../model/job.ts'
import type { WorkerFacts } from '../../model/worker.ts'

export function checkJob({ id, work, memoryMb, deadlineAt, speed }: Job): void {
  if (!(work >= 0 && work < Infinity)) refuse(`job ${id}: work`, work, 'a number, 0 or more')
  if (!(memoryMb >= 0 && memoryMb < Infinity)) refuse(`job ${id}: memoryMb`, memoryMb, 'a number, 0 or more')
  if (deadlineAt !== undefined && !Number.isFinite(deadlineAt))
    refuse(`job ${id}: deadlineAt`, deadlineAt, 'a time, or absent')
  if (!speed) return
  for (const name of ['expected', 'high'] as const)
    if (!(speed[name] > 0 && speed[name] < Infinity))
      refuse(`job ${id}: speed.${name}`, speed[name], 'a number above 0')
}

export function checkPressure({ id }: Job, pressure: number): void {
  if (!(pressure >= 0 && pressure <= 1)) refuse(`job ${id}: pressure`, pressure, 'a number from 0 to 1')
}

export function checkFacts({ id, cores, workPerSecond, memoryMb, slots }: WorkerFacts): void {
  const worker = `worker ${id}`
  if (!(Number.isInteger(cores) && cores >= 1)) refuse(`${worker}: cores`, cores, 'a whole number, 1 or more')
  if (!(Number.isInteger(slots) && slots >= 1)) refuse(`${worker}: slots`, slots, 'a whole number, 1 or more')
  if (!(workPerSecond > 0 && workPerSecond < Infinity))
    refuse(`${worker}: workPerSecond`, workPerSecond, 'a number above 0')
  if (!(memoryMb >= 0 && memoryMb < Infinity)) refuse(`${worker}: memoryMb`, memoryMb, 'a number, 0 or more')
}

function refuse(what: string, value: number, allowed: string): never {
  throw new ContractError(`${what} = ${value}: must be ${allowed}`)
}
