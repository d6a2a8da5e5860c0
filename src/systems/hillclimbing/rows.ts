/** HillClimbing's rows: what the ledger has of a search, in the layout of its HcRequest table. */

import type { MetricsRow } from '../../ledger/metrics.ts'

const parameters = ['map', 'width', 'height', 'xS', 'yS', 'x0', 'y0', 'x1', 'y1', 'strategy'] as const

export type HcRequest = Record<(typeof parameters)[number], number | string | null> & {
  /** All parameters, one after another: also those that its authors' searches did not have. */
  requestId: string
  /** As it was measured; of one that is not complete, as far as it is known. */
  work: number
  completed: boolean
}

/** An uploaded map goes by its length and hash. */
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
