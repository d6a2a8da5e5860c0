/** What an experiment is given, and what it finds. */

import type { MeterSetting } from '../../model/metering.ts'
import type { Asked, Lab } from './lab.ts'

/** A measured constant, and how it was measured. */
export interface Finding {
  constant: string
  value: number | readonly number[]
  how: string
}

export interface Figure {
  /** The name of its file, without its end. */
  name: string
  title: string
  x: string
  y: string
  log?: boolean
  series: readonly { label: string; points: readonly (readonly [x: number, y: number])[] }[]
}

export interface Found {
  findings: readonly Finding[]
  figures: readonly Figure[]
}

export interface Bench {
  /** The documents' minutes are divided by this. */
  shorter: number
  /** True: fewer points. */
  quick: boolean
  /** Requests per second in the busiest hour of the day. */
  peakPerSecond: number
  /** Names the step, of the number of steps announced. */
  step(what: string): void
}

export interface Experiment {
  /** The number of its steps, for the progress line. */
  steps(quick: boolean): number
  /** In place of the preset's meter. */
  meter?: (usual: MeterSetting) => MeterSetting
  run(lab: Lab, bench: Bench): Promise<Found>
}

/** The same request several times. */
export function times(count: number, asked: Asked): Asked[] {
  return Array.from({ length: count }, () => asked)
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

/** To three digits: measurements are no more exact. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
