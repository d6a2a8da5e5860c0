/** The demo's summary. */

import { duration, table } from '../terminal/table.ts'
import type { Ending, Sent } from './drive.ts'
import type { Orders } from './orders.ts'

export interface Figures {
  what: string
  sent: number
  /** By the workload, right or wrong. */
  answered: number
  wrong: number
  retried: number
  /** Rejected by the cluster, with 502, 503 or 504. */
  refused: number
  /** Dropped by a rule of the preset. */
  dropped: number
  unknown: number
  lost: number
  p50Ms: number
  p99Ms: number
}

/** How many requests were refused or dropped, for each reason. */
export function refusalsOf(sent: readonly Sent[]): string[] {
  const refused = sent.filter(({ ending }) => ending === 'refused' || ending === 'dropped')
  const groups = Map.groupBy(refused, ({ trouble }) => reasonOf(trouble))
  return [...groups].map(([why, { length }]) => `${length} refused: ${why}`)
}

/** The code and the detail of a problem. */
function reasonOf(trouble: string): string {
  const code = /urn:plimsoll:([\w-]+)/.exec(trouble)?.[1]
  const detail = /"detail":"((?:[^"\\]|\\.)*)"/.exec(trouble)?.[1]
  return code === undefined ? trouble.slice(0, 200) : `${code}${detail === undefined ? '' : `, ${detail}`}`
}

/** One row per kind of request, and one for all. */
export function figuresOf(sent: readonly Sent[]): Figures[] {
  const kinds = [...new Set(sent.map(({ request }) => request.kind))].sort()
  return [
    ...kinds.map((kind) =>
      figures(
        kind,
        sent.filter(({ request }) => request.kind === kind),
      ),
    ),
    figures('all', sent),
  ]
}

function figures(what: string, sent: readonly Sent[]): Figures {
  const count = (ending: Ending) => sent.filter((entry) => entry.ending === ending).length
  const answered = sent.filter(({ ending }) => ending === 'right' || ending === 'wrong')
  const times = answered.map(({ responseMs }) => responseMs).sort((a, b) => a - b)
  const quantile = (q: number) => times[Math.max(0, Math.ceil(times.length * q) - 1)] ?? Number.NaN
  return {
    what,
    sent: sent.length,
    answered: answered.length,
    wrong: count('wrong'),
    retried: sent.filter(({ attempts }) => attempts > 1).length,
    refused: count('refused'),
    dropped: count('dropped'),
    unknown: count('unknown'),
    lost: sent.filter(({ ending }) => ending === undefined || ending === 'lost').length,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
  }
}

/** One sentence that accounts for every request. */
export function verdict(all: Figures, { placed }: Pick<Orders, 'placed'>): string {
  const { sent, answered, wrong, refused, dropped, unknown, lost } = all
  const parts: [number, string][] = [
    [answered - wrong, 'were answered correctly'],
    [wrong, 'answered wrongly'],
    [refused, 'refused'],
    [dropped, 'dropped by a rule of the preset'],
    [unknown, 'of unknown outcome, because their worker was killed and they must not be repeated'],
  ]
  const counts = parts.filter(([count], i) => i === 0 || count > 0).map(([count, what]) => `${count} ${what}`)
  const orders = wrong === 0 && placed > 0 ? '; no order is missing or doubled' : ''
  return `Of ${sent} requests, ${counts.join(', ')}${orders}; lost ${lost}`
}

export function figuresTable(rows: readonly Figures[]): string {
  const drops = rows.some(({ dropped }) => dropped > 0)
  return table(
    [
      ...['requests', 'sent', 'answered', 'wrong', 'retried', 'refused'],
      ...[...(drops ? ['dropped'] : []), 'unknown', 'lost', 'p50', 'p99'],
    ],
    rows.map(({ what, p50Ms, p99Ms, sent, answered, wrong, retried, refused, dropped, unknown, lost }) => [
      what,
      ...[sent, answered, wrong, retried, refused, ...(drops ? [dropped] : []), unknown, lost].map((n) =>
        n.toLocaleString('en-US'),
      ),
      duration(p50Ms),
      duration(p99Ms),
    ]),
  )
}
