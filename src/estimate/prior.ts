/** The estimate for a workload without measurements: 100 ms on a nominal core, and a slot's base memory. */

import { ConfigError } from '../lib/errors.ts'
import type { Rule } from './estimator.ts'
import { guessOf, isUsable } from './guess.ts'

const unknown = { cpuMs: 100, memoryMb: 64 }

/** `workPerCpuMs` is the nominal rate of a core. */
export function priorWork(workPerCpuMs: number): Rule {
  const work = unknown.cpuMs * workPerCpuMs
  if (!isUsable(work)) {
    throw new ConfigError(`workPerCpuMs = ${workPerCpuMs}: must be a finite number above 0`)
  }
  return always(work, { cpuMs: unknown.cpuMs })
}

export function priorMemory(): Rule {
  return always(unknown.memoryMb, { memoryMb: unknown.memoryMb })
}

function always(value: number, facts: Record<string, number>): Rule {
  return {
    guess: () => guessOf(value, 'prior', { code: 'never-seen', ...facts }),
    learn() {},
  }
}
