/**
 * The scaling of CNV. At a fixed interval it smooths the mean CPU of the workers: one or two workers more when it was
 * high for some looks and jobs are queued, one fewer when it was low for more looks.
 */

import { hold, percentOf } from '../../brain/scale/bounds.ts'
import type {
  FleetView,
  ScaleDecision,
  ScaleOptions,
  Scaler,
  ScaleSteps,
  WorkerFigures,
} from '../../brain/scale/scaler.ts'
import { ConfigError } from '../../lib/errors.ts'

export interface CpuEmaOptions extends ScaleOptions {
  /** The interval between decisions. */
  everyMs?: number
  /** The work that one worker may carry: for more queued work than this it launches two. */
  workerWork?: number
}

export const usualEveryMs = 60_000
/** The weight of the newest reading. */
const newPart = 0.6
/** The bounds of the smoothed CPU, and how many looks in a row it must be beyond each. */
const [above, looksAbove] = [0.85, 2]
const [below, looksBelow] = [0.2, 5]

export function cpuEma(spec: CpuEmaOptions): Scaler {
  const { everyMs = usualEveryMs } = spec
  if (!(everyMs > 0 && everyMs < Infinity))
    throw new ConfigError(`scale.everyMs = ${everyMs}: must be above 0`)
  const cpu = new SmoothedCpu()
  let nextAt = 0
  return {
    name: 'cpu-ema',
    everyMs,
    cpuEveryMs: everyMs,
    endsDrained: true,
    decide(view, now): ScaleDecision {
      if (now < nextAt) return hold(view.ready + view.booting)
      nextAt = now + everyMs
      const workers = view.workers()
      cpu.add(workers)
      return { kind: 'steps', ...stepsOf(spec, cpu, view, workers) }
    },
    figures: () => ({
      emaPercent: cpu.ema === null ? null : Math.round(cpu.ema * 1000) / 10,
      looksAbove: cpu.above,
      looksBelow: cpu.below,
    }),
  }
}

class SmoothedCpu {
  /** Null: no reading yet. */
  ema: number | null = null
  /** Looks in a row beyond each bound. */
  above = 0
  below = 0

  /** Workers without a reading are left out. */
  add(workers: readonly WorkerFigures[]): void {
    const known = workers.map(({ cpu }) => cpu).filter((cpu) => cpu !== null)
    if (known.length === 0) return
    const mean = known.reduce((sum, cpu) => sum + cpu, 0) / known.length
    const ema = this.ema === null ? mean : newPart * mean + (1 - newPart) * this.ema
    this.ema = ema
    this.above = ema > above ? this.above + 1 : 0
    this.below = ema < below ? this.below + 1 : 0
  }
}

function stepsOf(
  { min, max, workerWork = Infinity }: CpuEmaOptions,
  cpu: SmoothedCpu,
  view: FleetView,
  workers: readonly WorkerFigures[],
): ScaleSteps {
  const have = view.ready + view.booting
  const percent = percentOf(cpu.ema ?? 0)
  const drained = workers.filter(({ draining, jobs }) => draining && jobs === 0)
  const end = drained.map(({ id }) => ({ worker: id, reason: { code: 'drained' } }))
  const steps: ScaleSteps = { reason: { code: 'cpu-within', percent }, end }
  if (have < min) {
    const reason = { code: 'below-min', have, min }
    return { ...steps, reason, launch: { count: min - have, reason } }
  }
  if (cpu.above >= looksAbove && view.waiting > 0 && have < max) {
    const launched = Math.min(max - have, view.waitingWork() > workerWork ? 2 : 1)
    const facts = { percent, above: above * 100, ticks: cpu.above, waiting: view.waiting, launched }
    const reason = { code: 'cpu-above', ...facts, have, to: have + launched }
    return { ...steps, reason, launch: { count: launched, reason } }
  }
  const least = cpu.below >= looksBelow && have > min ? leastLoaded(workers) : undefined
  if (!least) return steps
  const reason = { code: 'cpu-below', percent, below: below * 100, ticks: cpu.below, have, to: have - 1 }
  return { ...steps, reason, drain: [{ worker: least.id, reason }] }
}

/** Among ready workers; of equals the youngest. */
function leastLoaded(workers: readonly WorkerFigures[]): WorkerFigures | undefined {
  return workers
    .filter(({ draining }) => !draining)
    .sort((a, b) => a.work - b.work || a.jobs - b.jobs || b.number - a.number)[0]
}
