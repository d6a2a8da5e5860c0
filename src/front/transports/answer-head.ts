/** Reads the head of a worker's answer: the outcome and cost of the attempt, and the workload's own headers. */

import type { IncomingHttpHeaders } from 'node:http'
import type { Cost, Measure } from '../../model/cost.ts'
import type { Quantity } from '../../model/metering.ts'
import type { Tally } from '../../model/metrics.ts'
import { type AttemptOutcome, headers } from '../../wire/messages.ts'
import type { AttemptEnd } from './transport.ts'

export function outcomeOf(fields: NodeJS.Dict<string | string[]>): AttemptOutcome {
  return String(fields[headers.outcome] ?? 'refused') as AttemptOutcome
}

/** The end of an attempt whose answer broke off. `fields`: its headers and trailers. */
export function brokenOff(
  outcome: Exclude<AttemptOutcome, 'result'>,
  cost: Cost,
  fields: NodeJS.Dict<string | string[]>,
): AttemptEnd {
  const given = fields[headers.failure]
  const why = given === undefined ? outcome : decodeURIComponent(String(given))
  return { outcome, message: `the answer broke off: ${why}`, status: outcome === 'error' ? 500 : 502, cost }
}

export function costOf(fields: IncomingHttpHeaders, named: readonly Quantity[] = []): Cost {
  const number = (name: string) => {
    const value = Number(fields[name])
    return value >= 0 && value < Infinity ? value : 0
  }
  return {
    measure: measureOf(fields[headers.measure]),
    work: number(headers.work),
    cpuMs: number(headers.cpuMs),
    wallMs: number(headers.wallMs),
    peakMemoryMb: number(headers.peakMemoryMb),
    ...(named.some(({ header }) => fields[header] !== undefined) && {
      quantities: Object.fromEntries(named.map(({ name, header }) => [name, number(header)])),
    }),
    ...(fields[headers.tally] !== undefined && { tally: JSON.parse(String(fields[headers.tally])) as Tally }),
  }
}

/** Workers leave it out for workloads, whose work is always counted by the meter. */
function measureOf(given: unknown): Measure {
  return given === 'header' || given === 'cpu' || given === 'time' ? given : 'meter'
}

const ours: ReadonlySet<string> = new Set([
  ...Object.values(headers),
  'connection',
  'keep-alive',
  'date',
  'trailer',
  'transfer-encoding',
])

/** The workload's own headers. */
export function fieldsOf(fields: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept = Object.entries(fields).filter(([name]) => !ours.has(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, Array.isArray(value) ? value : String(value)]))
}
