/** A preset in virtual time: its own policies and constants, on machines like those that they were found on. */

import { disciplines } from '../model/discipline.ts'
import type { BrainSpec } from '../systems/brain-spec.ts'
import type { Preset } from '../systems/preset.ts'
import { presetOf } from '../systems/presets.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import { type RunSpec, unitsPerSecond } from './simulate.ts'

export interface PresetRun
  extends Pick<RunSpec, 'seed' | 'jobs' | 'arrivals' | 'sizes' | 'errorSigma' | 'known'> {
  timeScale?: number
  /** Of each worker, in place of what the preset's own machines have. */
  cores?: number
  bootMs?: number
  /** In place of what is usual where a preset leaves the number of workers to whoever runs it. */
  promise?: string
  /** Functions at a time, for a preset that says nothing of them. */
  functions?: number
}

/** Where a preset does not say what its machines are like. */
const usualMachine = { workPerSecond: unitsPerSecond, cores: 2, bootMs: 60_000 }
/** And where it leaves the number of workers to whoever runs it. */
const usualScale: ScaleSpec = { policy: 'work-forecast', min: 1, max: 64 }
/** An hour of a small machine; functions as they usually cost. */
const prices = { workerHour: 0.01 }
/** Workers report so often at least; how busy they are is known from their reports. */
const beatMs = 5000
/** Where all run at once: a server has threads for so many. */
const threads = 256

export function presetRun(name: string, run: PresetRun): RunSpec {
  const {
    timeScale = 1,
    cores: askedCores,
    bootMs: askedBootMs,
    promise,
    functions = 0,
    seed,
    ...traffic
  } = run
  const { workPerSecond } = presetOf(name).machine ?? usualMachine
  const preset = presetOf(name, { timeScale, workScale: workPerSecond / unitsPerSecond })
  const machine = preset.machine ?? usualMachine
  const { scheduler, placing, discipline } = preset
  const overflow = preset.overflow ?? (functions > 0 ? { concurrency: functions, prices } : undefined)
  const scale = preset.scale ?? { ...usualScale, ...(promise !== undefined && { promise }) }
  const cores = askedCores ?? machine.cores
  const slots = disciplines[discipline].bounded ? cores + 16 : (preset.slots ?? threads)
  const brain: BrainSpec = {
    ...{ scheduler, discipline, scale, epoch: 1, seed },
    limits: { beatMs: beatMs / timeScale, ...preset.limits },
    ...(placing && { placing }),
    ...(overflow && { overflow: { workPerSecond: unitsPerSecond, ...brainsPart(overflow) } }),
  }
  const bootMs = askedBootMs ?? machine.bootMs / timeScale
  return {
    ...{ brain, seed, ...traffic },
    fleet: { cores, workPerSecond: unitsPerSecond, memoryMb: 1_000_000, slots, bootMs },
  }
}

/** What functions are besides is of no concern to the brain. */
function brainsPart({
  perWorkload: _,
  ...overflow
}: NonNullable<Preset['overflow']>): Omit<NonNullable<Preset['overflow']>, 'perWorkload'> {
  return overflow
}
