/** HillClimbing's HcRequest table as a view of the ledger. */

import type { Ledger } from '../../ledger/ledger.ts'
import type { MetricsRow } from '../../ledger/metrics.ts'

const parameters = ['map', 'width', 'height', 'xS', 'yS', 'x0', 'y0', 'x1', 'y1', 'strategy'] as const

export type HcRequest = Record<(typeof parameters)[number], number | string | null> & {
  /** The concatenation of all parameters, including those unknown to the original system. */
  requestId: string
  /** Measured so far, until `completed`. */
  work: number
  completed: boolean
}

export async function hillclimbingRows(
  ledger: Ledger,
  workload: string,
  limit: number,
): Promise<HcRequest[]> {
  return (await ledger.recentMetrics({ workload, limit })).map(hcRequestOf)
}

/** An uploaded map is identified by its length and hash. */
export function hcRequestOf({ parameters: text, work, running }: MetricsRow): HcRequest {
  const { body, ...asked } = JSON.parse(text) as Record<string, number | string>
  const known: Record<string, number | string> = { ...asked, ...(body !== undefined && { map: body }) }
  const columns = parameters.map((name) => [name, known[name] ?? null] as const)
  const others = Object.keys(known)
    .filter((name) => !parameters.some((each) => each === name))
    .sort()
    .map((name) => `${name}=${known[name]}`)
  const requestId = [...columns.map(([, value]) => value ?? ''), ...others].join('_')
  const fields = Object.fromEntries(columns) as Record<(typeof parameters)[number], number | string | null>
  return { requestId, ...fields, work, completed: !running }
}
