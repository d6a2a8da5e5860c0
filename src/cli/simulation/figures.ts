/** Tables of the figures of runs. */

import { median, type Summary } from '../../simulate/summary.ts'
import type { Money } from '../../story/money.ts'
import { duration, significant, table } from '../terminal/table.ts'
import { price } from './money.ts'
import type { Contender } from './scenario.ts'

export interface Figures {
  policy: Contender
  summary: Summary
  money: Money
}

interface Column {
  title: string
  cell(figures: Figures): string
  /** Left out on narrow terminals. */
  wide?: boolean
  /** Left out if empty in all rows. */
  when?(figures: Figures): boolean
}

const columns: readonly Column[] = [
  { title: 'policy', cell: ({ policy }) => policy.scheduler },
  { title: 'workers run', cell: ({ policy }) => policy.discipline },
  { title: 'mean', cell: ({ summary }) => duration(summary.meanResponseMs) },
  { title: 'p50', cell: ({ summary }) => duration(summary.p50ResponseMs) },
  { title: 'p99', cell: ({ summary }) => duration(summary.p99ResponseMs) },
  { title: 'slowdown mean', cell: ({ summary }) => significant(summary.meanSlowdown), wide: true },
  { title: 'slowdown p99', cell: ({ summary }) => significant(summary.p99Slowdown) },
  { title: 'short 90 %', cell: ({ summary }) => significant(summary.shortP99Slowdown) },
  { title: 'largest 1 %', cell: ({ summary }) => significant(summary.largestSlowdown) },
  { title: 'worst', cell: ({ summary }) => significant(summary.maxSlowdown) },
  {
    title: 'to functions',
    cell: ({ money }) => money.functionRequests.toLocaleString('en-US'),
    when: ({ money }) => money.functionRequests > 0,
  },
  { title: 'worker-hours', cell: ({ money }) => significant(money.workerHours), wide: true },
  { title: 'spent', cell: ({ money }) => price(money.spent), when: ({ money }) => money.workers > 0 },
  {
    title: 'saved',
    cell: ({ money }) => price(money.saved),
    when: ({ money }) => money.workers > 0,
  },
  { title: 'refused', cell: ({ summary }) => significant(summary.refused).replace('.00', '') },
]

export const slowdownExplained =
  'Slowdown: time in the system ÷ time alone on a core; p99 of all and of the shortest 90 %, mean of the largest 1 %.'

/** Undefined: no money is shown. */
export function moneyExplained(rows: readonly Figures[]): string | undefined {
  if (!rows.some(({ money }) => money.workers > 0)) return undefined
  return 'Saved: against as many workers all the time as there were at most.'
}

/** For a terminal. */
export function figuresTable(rows: readonly Figures[]): string {
  const shown = columnsFor(rows).filter(({ wide }) => !wide)
  return table(
    shown.map(({ title }) => title),
    rows.map((row) => shown.map(({ cell }) => cell(row))),
  )
}

/** For HTML: all columns; the first two hold text. */
export function figuresCells(rows: readonly Figures[]): { head: string[]; rows: string[][]; words: number } {
  const shown = columnsFor(rows)
  return {
    head: shown.map(({ title }) => title),
    rows: rows.map((row) => shown.map(({ cell }) => cell(row))),
    words: 2,
  }
}

function columnsFor(rows: readonly Figures[]): Column[] {
  return columns.filter(({ when }) => !when || rows.some(when))
}

/** The median of each figure. */
export function middle<T extends Summary | Money>(runs: T[]): T {
  const names = Object.keys(runs[0]!) as (keyof T)[]
  return Object.fromEntries(
    names.map((name) => [name, median(runs.map((run) => run[name] as number))]),
  ) as unknown as T
}
