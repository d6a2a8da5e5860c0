/**
 * In which units each route of an own server counts its work, and what that is in those of the brain. A program that
 * names its work in a header has units of its own; else, and for the brain always, a unit is a microsecond.
 */

import type { Measure } from '../model/cost.ts'
import { measuredCode } from './measured-code.ts'
import { FleetRates } from './rates.ts'

/** Of a second of time. */
const brainRate = 1e6
/** So many answers in a row that name no work: the program has stopped to. Errors often name none. */
const patience = 20

/** What was measured of one job. */
export interface MeasuredWork {
  measure: Measure
  work: number
  cpuMs: number
  wallMs: number
}

export interface RouteUnitsOptions {
  /** Hashes of code, by route. */
  code: Readonly<Record<string, string>>
  /** How work is measured if the program does not name it. */
  usual: Exclude<Measure, 'header'>
}

export class RouteUnits {
  readonly #options: RouteUnitsOptions
  readonly #rates = new FleetRates(brainRate)
  /** Answers without a header since the last with one, by route. */
  readonly #silent = new Map<string, number>()

  constructor(options: RouteUnitsOptions) {
    this.#options = options
  }

  /** How the next request of a route is expected to be measured. */
  measureOf(route: string): Measure {
    return (this.#silent.get(route) ?? patience) < patience ? 'header' : this.#options.usual
  }

  /** The code of a route, for costs in these units. */
  codeOf(route: string, measure = this.measureOf(route)): string {
    return measuredCode(this.#options.code[route] ?? '', measure)
  }

  /** Units a second: of those that a request of the route would be quoted in. */
  of(worker: string, route: string): number {
    return this.measureOf(route) === 'header' ? this.#rates.of(worker, route) : brainRate
  }

  /** For the brain. */
  inMicroseconds(route: string, work: number): number {
    return work * (brainRate / this.of('', route))
  }

  learn(worker: string, route: string, measured: MeasuredWork): void {
    if (measured.measure === 'header') {
      this.#silent.set(route, 0)
      this.#rates.learn(worker, route, measured.work, busyMs(measured))
      return
    }
    const silent = this.#silent.get(route)
    if (silent !== undefined) this.#silent.set(route, silent + 1)
  }
}

/** What a job has done, for the brain: units of work, which are microseconds where a program names its own. */
export function brainWork(measured: MeasuredWork): number {
  return measured.measure === 'header' ? busyMs(measured) * 1000 : measured.work
}

/** Of a program that others use at the same time nobody knows the CPU time of one job. */
function busyMs({ cpuMs, wallMs }: MeasuredWork): number {
  return cpuMs > 0 ? cpuMs : wallMs
}
