/**
 * The unit in which each route of an existing server counts its work, and its conversion for the brain. A program that
 * reports its work in a header defines its own unit; otherwise, and for the brain always, a unit is a microsecond.
 */

import type { Measure } from '../model/cost.ts'
import { measuredCode } from './measured-code.ts'
import { FleetRates } from './rates.ts'

/** The brain's units per second. */
const brainRate = 1e6
/** A route counts as having no header after 20 responses in a row without one. Errors often have none. */
const patience = 20

/** The measurement of one job. */
export interface MeasuredWork {
  measure: Measure
  work: number
  cpuMs: number
  wallMs: number
}

export interface RouteUnitsOptions {
  /** Code hashes by route. */
  code: Readonly<Record<string, string>>
  /** How work is measured if the program does not report it. */
  usual: Exclude<Measure, 'header'>
}

export class RouteUnits {
  #options: RouteUnitsOptions
  readonly #rates = new FleetRates(brainRate, { ownUnits: true })
  /** By route: responses without a header since the last one with a header. */
  readonly #withoutHeader = new Map<string, number>()

  constructor(options: RouteUnitsOptions) {
    this.#options = options
  }

  /** Another version of the server: what was learned of the routes remains. */
  renew(options: RouteUnitsOptions): void {
    this.#options = options
  }

  /** The expected measure of the route's next request. */
  measureOf(route: string): Measure {
    return (this.#withoutHeader.get(route) ?? patience) < patience ? 'header' : this.#options.usual
  }

  /** The route's code hash for costs in these units. */
  codeOf(route: string, measure = this.measureOf(route)): string {
    return measuredCode(this.#options.code[route] ?? '', measure)
  }

  /** Units per second, in the unit in which the route is quoted. */
  of(worker: string, route: string): number {
    return this.measureOf(route) === 'header' ? this.#rates.of(worker, route) : brainRate
  }

  /** Converts work to the brain's units. */
  inMicroseconds(route: string, work: number): number {
    return work * (brainRate / this.of('', route))
  }

  learn(worker: string, route: string, measured: MeasuredWork): void {
    if (measured.measure === 'header') {
      this.#withoutHeader.set(route, 0)
      this.#rates.learn(worker, route, measured.work, busyMs(measured))
      return
    }
    const count = this.#withoutHeader.get(route)
    if (count !== undefined) this.#withoutHeader.set(route, count + 1)
  }
}

/** A job's work in the brain's units: microseconds if the program reports its own unit. */
export function brainWork(measured: MeasuredWork): number {
  return measured.measure === 'header' ? busyMs(measured) * 1000 : measured.work
}

/** The CPU time of one job is unknown in a program that serves several requests at a time. */
function busyMs({ cpuMs, wallMs }: MeasuredWork): number {
  return cpuMs > 0 ? cpuMs : wallMs
}
