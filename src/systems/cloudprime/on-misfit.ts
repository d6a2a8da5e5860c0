/**
 * CloudPrime's scaling. Requests that fit nowhere launch workers (class-limits.ts). Dead workers are replaced if few
 * others are idle. A worker whose CPU stays low is ended, whatever it holds.
 */

import { backInto, hold, percentOf } from '../../brain/scale/bounds.ts'
import type {
  FleetView,
  ScaleDecision,
  ScaleOptions,
  Scaler,
  ScaleSteps,
  WorkerFigures,
} from '../../brain/scale/scaler.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { Reason } from '../../model/reason.ts'

export interface OnMisfitOptions extends ScaleOptions {
  lowCpu?: Partial<LowCpuRule>
}

export interface LowCpuRule {
  /** The interval between two counts. */
  everyMs: number
  /** CPU up to `low` is low, above `high` it is high. */
  low: number
  high: number
  /** A worker may end when its CPU was low at this many counts in a row. */
  times: number
  /** With fewer idle workers than this, dead ones are replaced; at least this many workers remain. */
  spare: number
}

export const usualLowCpu: Readonly<LowCpuRule> = {
  everyMs: 60_000,
  low: 0.2,
  high: 0.75,
  times: 11,
  spare: 2,
}

type Ends = NonNullable<ScaleSteps['end']>

export function onMisfit(spec: OnMisfitOptions): Scaler {
  const rule = lowCpuOf(spec.lowCpu)
  const low = new LowCpu(rule, spec.min)
  const dead = new DeadWorkers(rule, spec)
  let nextAt = 0
  return {
    name: 'on-misfit',
    everyMs: rule.everyMs,
    cpuEveryMs: rule.everyMs,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      if (have > spec.max) return backInto(spec, view)!
      const isTime = now >= nextAt
      if (!isTime && !dead.pending && have >= spec.min) return hold(have)
      const active = view.workers().filter(({ draining }) => !draining)
      const launch = dead.replace(view, active)
      let end: Ends = []
      if (isTime) {
        nextAt = now + rule.everyMs
        end = low.remove(active)
        // A worker that ends because many are idle is not replaced.
        if (end.length > 0) dead.forget()
      }
      if (!launch && end.length === 0) return hold(have)
      const reason = launch?.reason ?? end[0]!.reason
      return { kind: 'steps', reason, end, ...(launch && { launch }) }
    },
    lost: () => dead.add(),
    figuresOf: (worker) => ({ lowCpuFor: low.timesOf(worker) }),
  }
}

// A worker without a CPU reading is neither low nor high.
const isLow = ({ cpu }: WorkerFigures, { low }: LowCpuRule) => cpu !== null && cpu <= low
const isHigh = ({ cpu }: WorkerFigures, { high }: LowCpuRule) => cpu !== null && cpu > high

/** Workers that died, and how many workers are to exist in their place. */
class DeadWorkers {
  readonly #rule: LowCpuRule
  readonly #spec: ScaleOptions
  /** Died since the last decision. */
  #dead = 0
  /** Kept until that many workers are ready, because launches may fail. */
  #owed: { workers: number; reason: Reason } | undefined

  constructor(rule: LowCpuRule, spec: ScaleOptions) {
    this.#rule = rule
    this.#spec = spec
  }

  get pending(): boolean {
    return this.#dead > 0 || this.#owed !== undefined
  }

  add(): void {
    this.#dead++
  }

  forget(): void {
    this.#owed = undefined
  }

  replace({ ready, booting }: FleetView, active: readonly WorkerFigures[]): ScaleSteps['launch'] {
    const { min } = this.#spec
    const have = ready + booting
    this.#owe(have, active.filter((worker) => isLow(worker, this.#rule)).length)
    if (this.#owed && ready >= this.#owed.workers) this.#owed = undefined
    const owed = this.#owed
    const count = Math.max(min, owed?.workers ?? 0) - have
    if (count <= 0) return undefined
    if (!owed || owed.workers < min) return { count, reason: { code: 'below-min', have, min } }
    return { count, reason: owed.reason }
  }

  /** The number of idle workers decides whether the dead are replaced. */
  #owe(have: number, idle: number): void {
    const dead = this.#dead
    const { spare, low } = this.#rule
    this.#dead = 0
    if (dead === 0 || idle >= spare) return
    const workers = Math.min(this.#spec.max, Math.max(have + dead, this.#owed?.workers ?? 0))
    this.#owed = { workers, reason: { code: 'dead-replaced', dead, idle, percent: percentOf(low), spare } }
  }
}

/** Counts how often in a row each worker's CPU was low. */
class LowCpu {
  readonly #rule: LowCpuRule
  readonly #least: number
  #times: Record<string, number> = {}

  constructor(rule: LowCpuRule, min: number) {
    this.#rule = rule
    this.#least = Math.max(rule.spare, min)
  }

  timesOf(worker: string): number {
    return this.#times[worker] ?? 0
  }

  /** One after the other, so that each decision sees what the previous ones left. */
  remove(active: readonly WorkerFigures[]): Ends {
    const rule = this.#rule
    this.#count(active)
    const left = new Set(active)
    const busy = active.filter((worker) => isHigh(worker, rule)).length
    const end: Ends = []
    for (const worker of active) {
      const times = this.#times[worker.id]!
      if (times < rule.times) continue
      const otherLow = [...left].filter((other) => other !== worker && isLow(other, rule)).length
      if (left.size <= this.#least || (busy > 0 && otherLow < rule.spare)) continue
      const facts = { percent: percentOf(rule.low), busy, high: percentOf(rule.high), workers: left.size }
      end.push({ worker: worker.id, reason: { code: 'low-cpu', times, ...facts } })
      left.delete(worker)
      delete this.#times[worker.id]
    }
    return end
  }

  #count(active: readonly WorkerFigures[]): void {
    const before = this.#times
    this.#times = {}
    for (const worker of active)
      this.#times[worker.id] = isLow(worker, this.#rule) ? (before[worker.id] ?? 0) + 1 : 0
  }
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
