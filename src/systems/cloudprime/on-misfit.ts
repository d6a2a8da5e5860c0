/**
 * CloudPrime's scaling: workers are launched by requests that fit nowhere (schedule/class-limits.ts), and in place of
 * dead ones if few others are idle; one whose CPU was low for long is ended, whatever it has in hand.
 */

import { backInto, hold } from '../../brain/scale/bounds.ts'
import type { FleetView, ScaleDecision, Scaler, ScaleSteps, WorkerFigures } from '../../brain/scale/scaler.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { Reason } from '../../model/reason.ts'
import type { ScaleSpec } from '../scalers.ts'

export interface LowCpuRule {
  /** How often it is counted. */
  everyMs: number
  /** CPU up to `low` is low, above `high` it is high. */
  low: number
  high: number
  /** So many times in a row low: the worker may go. */
  times: number
  /** So many workers with low CPU are right: fewer, and the dead are replaced; and so many there are at least. */
  spare: number
}

export const usualLowCpu: Readonly<LowCpuRule> = {
  everyMs: 60_000,
  low: 0.2,
  high: 0.75,
  times: 11,
  spare: 2,
}

interface State {
  nextAt: number
  /** By worker: how many times in a row its CPU was low. */
  lowFor: Record<string, number>
  /** Workers that died and have not been thought of. */
  dead: number
  /** As many as there are to be in place of dead ones, until they are up: launches may fail. */
  owed: { workers: number; reason: Reason } | null
}

export function onMisfit(spec: ScaleSpec): Scaler {
  const rule = lowCpuOf(spec.lowCpu)
  let state: State = { nextAt: 0, lowFor: {}, dead: 0, owed: null }

  // What is not known is neither low nor high.
  const isLow = ({ cpu }: WorkerFigures) => cpu !== null && cpu <= rule.low
  const isHigh = ({ cpu }: WorkerFigures) => cpu !== null && cpu > rule.high

  function replacing(view: FleetView, active: readonly WorkerFigures[]): ScaleSteps['launch'] {
    const have = view.ready + view.booting
    owe(have, active.filter(isLow).length)
    if (state.owed && view.ready >= state.owed.workers) state.owed = null
    const { owed } = state
    const count = Math.max(spec.min, owed?.workers ?? 0) - have
    if (count <= 0) return undefined
    if (!owed || owed.workers < spec.min) return { count, reason: { code: 'below-min', have, min: spec.min } }
    return { count, reason: owed.reason }
  }

  /** Those that have died are replaced, or not, by how many others are idle now. */
  function owe(have: number, idle: number): void {
    const { dead, owed } = state
    const { spare } = rule
    state.dead = 0
    if (dead === 0 || idle >= spare) return
    const workers = Math.min(spec.max, Math.max(have + dead, owed?.workers ?? 0))
    state.owed = {
      workers,
      reason: { code: 'dead-replaced', dead, idle, percent: percentOf(rule.low), spare },
    }
  }

  function countLow(active: readonly WorkerFigures[]): void {
    const before = state.lowFor
    state.lowFor = {}
    for (const worker of active) state.lowFor[worker.id] = isLow(worker) ? (before[worker.id] ?? 0) + 1 : 0
  }

  /** One after the other, so that each sees what those before it have left. */
  function removing(active: readonly WorkerFigures[]): NonNullable<ScaleSteps['end']> {
    const left = new Set(active)
    const busy = active.filter(isHigh).length
    const end: NonNullable<ScaleSteps['end']> = []
    for (const worker of active) {
      if (state.lowFor[worker.id]! < rule.times) continue
      const otherLow = [...left].filter((other) => other !== worker && isLow(other)).length
      if (left.size <= Math.max(rule.spare, spec.min) || (busy > 0 && otherLow < rule.spare)) continue
      const facts = { percent: percentOf(rule.low), busy, high: percentOf(rule.high), workers: left.size }
      end.push({ worker: worker.id, reason: { code: 'low-cpu', times: state.lowFor[worker.id]!, ...facts } })
      left.delete(worker)
      delete state.lowFor[worker.id]
    }
    return end
  }

  return {
    name: 'on-misfit',
    everyMs: rule.everyMs,
    cpuEveryMs: rule.everyMs,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      if (have > spec.max) return backInto(spec, view)!
      const isTime = now >= state.nextAt
      if (!isTime && state.dead === 0 && !state.owed && have >= spec.min) return hold(have)
      const active = view.workers().filter(({ draining }) => !draining)
      const launch = replacing(view, active)
      let end: NonNullable<ScaleSteps['end']> = []
      if (isTime) {
        state.nextAt = now + rule.everyMs
        countLow(active)
        end = removing(active)
        // Who goes because so many are idle is not to be replaced.
        if (end.length > 0) state.owed = null
      }
      if (!launch && end.length === 0) return hold(have)
      const reason = launch?.reason ?? end[0]!.reason
      return { kind: 'steps', reason, end, ...(launch && { launch }) }
    },
    lost() {
      state.dead++
    },
    tellsOf: (worker) => ({ lowCpuFor: state.lowFor[worker] ?? 0 }),
    save: () => state,
    load(saved) {
      state = structuredClone(saved as State)
    },
  }
}

function percentOf(share: number): number {
  return Math.round(share * 100)
}

function lowCpuOf(given: Partial<LowCpuRule> = {}): LowCpuRule {
  const rule = { ...usualLowCpu, ...given }
  const wrong = (name: keyof LowCpuRule, must: string) =>
    new ConfigError(`scale.lowCpu.${name} = ${rule[name]}: must be ${must}`)
  if (!(rule.everyMs > 0 && rule.everyMs < Infinity)) throw wrong('everyMs', 'milliseconds, above 0')
  if (!(rule.low >= 0)) throw wrong('low', 'a share, 0 or more')
  if (!(rule.high >= rule.low)) throw wrong('high', `a share, at least low (${rule.low})`)
  if (!(Number.isInteger(rule.times) && rule.times >= 1)) throw wrong('times', 'a whole number, 1 or more')
  if (!(Number.isInteger(rule.spare) && rule.spare >= 0)) throw wrong('spare', 'a whole number, 0 or more')
  return rule
}
