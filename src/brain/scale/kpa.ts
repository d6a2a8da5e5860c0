/** Knative's pod autoscaler on concurrency, with its defaults. A baseline that ignores what jobs cost. */

import { backInto, hold, replaceLost, type TargetOptions, targetOf, within } from './bounds.ts'
import type { FleetView, ScaleDecision, Scaler } from './scaler.ts'

/** The panic window is this part of the stable window. */
const panicPart = 0.1
/** It panics when the short window asks for this many times the ready workers, until one stable window has passed. */
const panicThreshold = 2
/** One decision grows the fleet at most to this multiple of the ready workers, and shrinks it at most to this fraction. */
const [mostUp, mostDown] = [1000, 2]

/** Times; each default is Knative's. */
export interface KpaOptions extends TargetOptions {
  /** The interval of decisions. Default: 2 s. */
  tickMs?: number
  /** The window over which concurrency is averaged. Default: 1 min. */
  stableMs?: number
  /** The last worker ends after this long without jobs. Default: 30 s. */
  graceMs?: number
}

/** `target`: the share of a worker's cores that its jobs should occupy; Knative's default is 0.7. */
export function kpa(spec: KpaOptions): Scaler {
  const target = targetOf(spec, 0.7)
  const { tickMs = 2000, stableMs = 60_000, graceMs = 30_000 } = spec
  const window = new ConcurrencyWindow(stableMs)
  const panic = new Panic(stableMs)
  let wanted: number | null = null
  let nextAt = 0
  let idleSince: number | null = null

  /** The last worker stays for the grace period. */
  const keepLast = (workers: number, isIdle: boolean, have: number, now: number): number => {
    if (isIdle) idleSince ??= now
    else idleSince = null
    const isKept = workers === 0 && (idleSince === null || now < idleSince + graceMs)
    return isKept ? Math.min(1, have) : workers
  }

  return {
    name: 'kpa',
    everyMs: tickMs,
    decide(view, now): ScaleDecision {
      const outside = backInto(spec, view)
      if (outside) return outside
      const { ready, jobs } = view
      const have = ready + view.booting
      const fromNone = have === 0 && jobs > 0
      if (now < nextAt && !fromNone) return replaceLost(have, wanted)
      nextAt = now + tickMs
      const each = target * view.coresEach
      const [stable, short] = window.average(view, now).map((jobsAtOnce) => Math.ceil(jobsAtOnce / each))
      const base = Math.max(1, ready)
      const panicked = panic.wants(stable!, short!, base, have, now)
      let workers = panicked ?? Math.max(stable!, Math.floor(base / mostDown))
      workers = Math.min(Math.max(workers, fromNone ? 1 : 0), base * mostUp)
      workers = within(spec, keepLast(workers, jobs === 0 && stable === 0, have, now))
      wanted = workers
      if (workers === have) return hold(have)
      const [code, jobsNow] =
        panicked === undefined ? ['concurrency', stable! * each] : ['concurrency-panic', short! * each]
      return { kind: 'scale', to: workers, reason: { code, jobs: jobsNow, each, have, to: workers } }
    },
  }
}

/** Mean concurrency over the stable and the panic window. */
class ConcurrencyWindow {
  readonly #stableMs: number
  #samples: { at: number; jobMs: number }[] = []

  constructor(stableMs: number) {
    this.#stableMs = stableMs
  }

  average(view: FleetView, now: number): [stable: number, short: number] {
    this.#samples = this.#samples.filter(({ at }) => at >= now - this.#stableMs)
    const over = (ms: number): number => {
      const first = this.#samples.find(({ at }) => at >= now - ms)
      return first && first.at < now ? (view.jobMs - first.jobMs) / (now - first.at) : view.jobs
    }
    const both: [number, number] = [over(this.#stableMs), over(this.#stableMs * panicPart)]
    this.#samples.push({ at: now, jobMs: view.jobMs })
    return both
  }
}

/** While it lasts, the fleet does not shrink below the highest number that it asked for. */
class Panic {
  readonly #stableMs: number
  #until = -1
  #highest = 0

  constructor(stableMs: number) {
    this.#stableMs = stableMs
  }

  /** Undefined: no panic. */
  wants(stable: number, short: number, base: number, have: number, now: number): number | undefined {
    if (short >= panicThreshold * base) {
      if (now >= this.#until) this.#highest = have
      this.#until = now + this.#stableMs
    }
    if (now >= this.#until) return undefined
    this.#highest = Math.max(this.#highest, stable, short)
    return this.#highest
  }
}
