/** Runs a preset in virtual time, with its policies and constants, on machines like its authors'. */

import { disciplines } from '../model/discipline.ts'
import type { BrainSpec } from '../systems/brain-spec.ts'
import type { Preset } from '../systems/preset.ts'
import { presetOf } from '../systems/presets.ts'
import type { ScaleSpec } from '../systems/scalers.ts'
import { type RunSpec, unitsPerSecond } from './simulate.ts'

export interface PresetRun
  extends Pick<
    RunSpec,
    'seed' | 'jobs' | 'arrivals' | 'sizes' | 'errorSigma' | 'known' | 'estimator' | 'asked'
  > {
  timeScale?: number
  /** Of each worker, in place of the preset's machine. */
  cores?: number
  bootMs?: number
  /** The promise of presets without their own scaling. */
  promise?: string
  /** The concurrency of functions, for a preset without functions. */
  functions?: number
}

/** For presets without a machine. */
const usualMachine = { workPerSecond: unitsPerSecond, cores: 2, bootMs: 60_000 }
/** For presets without their own scaling. */
const usualScale: ScaleSpec = { policy: 'work-forecast', min: 1, max: 64 }
/** The price of a small machine; functions have their default prices. */
const prices = { workerHour: 0.01 }
/** The longest interval between heartbeats, which carry CPU readings. */
const beatMs = 5000
/** The slots of a worker that runs all jobs at once. */
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

/** Without the options that only the live cluster uses. */
function brainsPart({
  perWorkload: _,
  ...overflow
}: NonNullable<Preset['overflow']>): Omit<NonNullable<Preset['overflow']>, 'perWorkload'> {
  return overflow
}
