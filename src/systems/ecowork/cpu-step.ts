/**
 * EcoWork's scaling. Every minute it looks at the mean CPU: above 85 % it adds a tenth of the fleet, below 15 % it
 * drains a tenth, those with the lowest CPU. The drained ones end together when all of them are empty; until then
 * nothing else is decided.
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

export interface CpuStepOptions extends ScaleOptions {
  /** The interval between decisions. */
  everyMs?: number
  /** The interval between checks whether the drained workers are empty. */
  checkMs?: number
}

export const [usualEveryMs, usualCheckMs] = [60_000, 1000]
const [above, below, part] = [0.85, 0.15, 0.1]

export function cpuStep(spec: CpuStepOptions): Scaler {
  const { everyMs = usualEveryMs, checkMs = Math.min(usualCheckMs, everyMs) } = spec
  const batch = new DrainingBatch()
  let nextAt = 0
  let cpu: number | null = null
  return {
    name: 'cpu-step',
    everyMs: checkMs,
    cpuEveryMs: everyMs,
    endsDrained: true,
    decide(view, now): ScaleDecision {
      const have = view.ready + view.booting
      const ending = batch.finish(view)
      if (ending) return { kind: 'steps', ...ending }
      const outside = backInto(spec, view)
      if (outside) return outside
      if (now < nextAt) return hold(have)
      // A step is finished before the next one is taken.
      const unfinished = view.booting || batch.size
      if (unfinished > 0) return { kind: 'hold', reason: { code: 'batch-under-way', workers: unfinished } }
      nextAt = now + everyMs
      const workers = view.workers().filter(({ draining }) => !draining)
      cpu = meanCpu(workers)
      const steps = stepFor(spec, workers, cpu)
      batch.begin(steps)
      return { kind: 'steps', ...steps }
    },
    figures: () => ({ averageCpu: cpu, batch: batch.size }),
    figuresOf: (worker) => ({ onHold: batch.has(worker) }),
  }
}

/** Workers that are to end together. */
class DrainingBatch {
  #workers: string[] = []

  get size(): number {
    return this.#workers.length
  }

  has(worker: string): boolean {
    return this.#workers.includes(worker)
  }

  begin({ drain }: ScaleSteps): void {
    if (drain) this.#workers = drain.map(({ worker }) => worker)
  }

  /** A worker that drains for another reason is a batch of one. */
  finish(view: FleetView): ScaleSteps | undefined {
    // A batch whose workers are all lost is finished too.
    if (view.draining + this.size === 0) return undefined
    const draining = view.workers().filter((worker) => worker.draining)
    const batch = draining.filter(({ id }) => this.has(id))
    const others = draining.filter(({ id, jobs }) => jobs === 0 && !this.has(id))
    const isDone = batch.every(({ jobs }) => jobs === 0)
    const ending = isDone ? [...batch, ...others] : others
    this.#workers = isDone ? [] : batch.map(({ id }) => id)
    if (ending.length === 0) return undefined
    const reason = { code: 'drained', together: ending.length }
    return { reason, end: ending.map(({ id }) => ({ worker: id, reason })) }
  }
}

function stepFor(
  { min, max }: ScaleOptions,
  workers: readonly WorkerFigures[],
  cpu: number | null,
): ScaleSteps {
  if (cpu === null) return { reason: { code: 'no-cpu' } }
  const have = workers.length
  const step = Math.ceil(have * part)
  const facts = { code: 'cpu-step', percent: percentOf(cpu), have }
  if (cpu > above && have < max) {
    const count = Math.min(step, max - have)
    const reason = { ...facts, bound: above * 100, to: have + count }
    return { reason, launch: { count, reason } }
  }
  if (cpu < below && have > min) {
    const count = Math.min(step, have - min)
    const reason = { ...facts, bound: below * 100, to: have - count }
    const going = workers.toSorted(byCpu).slice(0, count)
    return { reason, drain: going.map(({ id }) => ({ worker: id, reason })) }
  }
  return { reason: { code: 'enough', have } }
}

/** Null: no worker has a reading. */
function meanCpu(workers: readonly WorkerFigures[]): number | null {
  const known = workers.filter(({ cpu }) => cpu !== null)
  return known.length === 0 ? null : known.reduce((sum, { cpu }) => sum + cpu!, 0) / known.length
}

/** The lowest CPU first, workers without a reading last; of equals the least work, then the youngest. */
function byCpu(a: WorkerFigures, b: WorkerFigures): number {
  return (a.cpu ?? Infinity) - (b.cpu ?? Infinity) || a.work - b.work || b.number - a.number
}
