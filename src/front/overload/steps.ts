/**
 * Decides how overloaded a process is, from readings of its resources. Each resource has a step of its own; the highest
 * one counts. A step begins when its reading has lasted, and ends one at a time after a calm period well below it.
 */

import type { OverloadStep } from '../../model/overload.ts'

export const resources = ['memory', 'descriptors', 'loop', 'queue'] as const
export type Resource = (typeof resources)[number]

/** As shares of the limit; `loop` is the mean delay of the event loop in milliseconds. Missing: unknown. */
export type Readings = Readonly<Partial<Record<Resource, number>>>

export interface StepRule {
  /** The readings at which the steps 1, 2 and 3 begin. Infinity: this resource alone does not lead there. */
  at: readonly [number, number, number]
  /** A step ends below this share of the reading at which it begins. */
  release: number
  /** How long readings must last to begin a step, and how many there must be. */
  riseMs: number
  riseReadings: number
  /** How long readings must last to end a step. */
  calmMs: number
}

export type StepRules = Readonly<Record<Resource, StepRule>>

const ofLimit = { at: [0.8, 0.88, 0.95], release: 0.95, riseMs: 0, riseReadings: 1, calmMs: 2_000 } as const

export const usualRules: StepRules = {
  memory: ofLimit,
  descriptors: ofLimit,
  // Long pauses of the process are not overload: the mean has to stay high. Pauses that follow each other closely are
  // far apart as readings, so time alone does not tell them from a loop that is always late.
  loop: { at: [500, 1_000, 3_000], release: 0.5, riseMs: 2_000, riseReadings: 5, calmMs: 5_000 },
  // A full queue rejects requests anyway; connections are not its problem.
  queue: { at: [Infinity, 0.8, Infinity], release: 0.9, riseMs: 0, riseReadings: 1, calmMs: 1_000 },
}

/** The step of one resource. */
interface Trigger {
  step: OverloadStep
  /** Set while the readings ask for a higher or a lower step. */
  leaning?: { up: boolean; since: number; readings: number }
}

export interface OverloadState {
  readonly triggers: Readonly<Record<Resource, Trigger>>
  readonly step: OverloadStep
  /** From 0 to 1: how far the readings are from step 2 to step 3. */
  readonly pressure: number
  /** The resource that leads to the step, and its reading. */
  readonly cause?: { resource: Resource; reading: number }
}

const idle: Trigger = { step: 0 }

export const noOverload: OverloadState = {
  triggers: { memory: idle, descriptors: idle, loop: idle, queue: idle },
  step: 0,
  pressure: 0,
}

export function nextState(
  before: OverloadState,
  readings: Readings,
  now: number,
  rules: StepRules = usualRules,
): OverloadState {
  const triggers = { ...before.triggers }
  for (const resource of resources) {
    const reading = readings[resource]
    // Without a reading nothing changes: an unknown value is not a low one.
    if (reading !== undefined)
      triggers[resource] = nextTrigger(triggers[resource], reading, now, rules[resource])
  }
  const highest = resources.reduce((one, other) => (triggers[other].step > triggers[one].step ? other : one))
  const { step } = triggers[highest]
  const pressure = Math.max(
    ...resources.map((each) => pressureOf(triggers[each], readings[each], rules[each])),
  )
  const reading = readings[highest] ?? before.cause?.reading ?? 0
  return { triggers, step, pressure, ...(step > 0 && { cause: { resource: highest, reading } }) }
}

function nextTrigger({ step, leaning }: Trigger, reading: number, now: number, rule: StepRule): Trigger {
  const begun = stepAt(reading, rule.at)
  const kept = stepAt(reading / rule.release, rule.at)
  const up = begun > step
  if (!up && kept >= step) return { step }
  const { since, readings: earlier } = leaning?.up === up ? leaning : { since: now, readings: 0 }
  const readings = earlier + 1
  const hasLasted = up
    ? now - since >= rule.riseMs && readings >= rule.riseReadings
    : now - since >= rule.calmMs
  if (!hasLasted) return { step, leaning: { up, since, readings } }
  // The next lower step has a calm period of its own.
  return up ? { step: begun } : { step: (step - 1) as OverloadStep, leaning: { up, since: now, readings: 0 } }
}

function stepAt(reading: number, at: StepRule['at']): OverloadStep {
  return (at.findLastIndex((each) => reading >= each) + 1) as OverloadStep
}

/** What is shed even at the beginning of step 2. */
const leastPressure = 0.1

function pressureOf({ step }: Trigger, reading: number | undefined, { at }: StepRule): number {
  if (step < 2) return 0
  if (step === 3) return 1
  // A resource that does not lead to step 3 is exhausted at its limit.
  const most = Math.min(at[2], Math.max(1, at[1]))
  const part = ((reading ?? at[1]) - at[1]) / (most - at[1])
  return Math.min(1, Math.max(leastPressure, part))
}
