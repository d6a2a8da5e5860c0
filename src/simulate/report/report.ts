/** The page that shows how policies did on the same jobs. */

import { linearAxis, logAxis, percent, plain, time, timeAxis, wholeDecades } from '../../report/axis.ts'
import { type Line, lines, plot } from '../../report/chart.ts'
import { colourOf } from '../../report/colours.ts'
import { escaped, page, tableOf } from '../../report/page.ts'
import type { PolicyRecord } from './record.ts'

export interface Report {
  title: string
  /** What was simulated: paragraphs. */
  about: readonly string[]
  /** The command that makes this page again. */
  command: string
  table: { head: readonly string[]; rows: readonly (readonly string[])[]; words: number }
  tableCaption: string
  records: readonly PolicyRecord[]
  seeds: number
  firstSeed: number
}

export function reportPage(report: Report): string {
  const { title, about, command, table, tableCaption } = report
  const figures = [responses, tail, slowdowns, waiting, fleet].map((figure) => figure(report))
  return page({
    title: `Plimsoll: ${title}`,
    body: `<h1>${escaped(title)}</h1>
${about.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('\n')}
${tableOf(table.head, table.rows, table.words)}
<p>${escaped(tableCaption)}</p>
<main>
${figures.join('\n')}
</main>
<p>Made by <code>${escaped(command)}</code></p>`,
  })
}

function figure(report: Report, title: string, picture: string, caption: string): string {
  const entries = report.records.map(
    ({ name }, i) =>
      `<li><svg viewBox="0 0 26 10" aria-hidden="true"><path class="line" stroke="${colourOf(i)}" d="M0 5H26"/></svg>${escaped(name)}</li>`,
  )
  return `<figure>
<h2>${escaped(title)}</h2>
<ul class="legend">${entries.join('')}</ul>
${picture}
<figcaption>${escaped(caption)}</figcaption>
</figure>`
}

/** One line, or several, for each policy, in its colour. */
function linesOf({ records }: Report, draw: (record: PolicyRecord) => Omit<Line, 'colour'>[]): Line[] {
  return records.flatMap((record, i) => draw(record).map((line) => ({ ...line, colour: colourOf(i) })))
}

function responseAxis({ records }: Report) {
  const edges = records.flatMap(({ responseMs }) => responseMs.cumulative().map(([edge]) => edge))
  return logAxis('response time', ...ends(edges, [1, 10]), time)
}

function responses(report: Report): string {
  const all = linesOf(report, ({ responseMs }) => [
    { points: responseMs.cumulative().map(([edge, below]) => [edge, below / responseMs.count] as const) },
  ])
  const picture = plot(
    {
      x: responseAxis(report),
      y: linearAxis('share of jobs answered', 0, 1, percent),
      label: 'Distribution of response times',
    },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'Response times',
    picture,
    `The share of jobs that were answered within a time; further left is better.${pooled(report)}`,
  )
}

function tail(report: Report): string {
  const all = linesOf(report, ({ responseMs }) => [
    {
      points: responseMs
        .cumulative()
        .map(([edge, below]) => [edge, 1 - below / responseMs.count] as const)
        .filter(([, above]) => above > 0),
    },
  ])
  const least = Math.max(1e-7, Math.min(0.1, ...report.records.map(({ responseMs }) => 1 / responseMs.count)))
  const picture = plot(
    {
      x: responseAxis(report),
      y: logAxis('share of jobs that took longer', ...wholeDecades(least, 1), percent),
      label: 'Tail of the response times',
    },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'The slowest jobs',
    picture,
    'The same times, seen from the other end: the share of jobs that took longer than a time. 1 % is the 99th percentile; lower is better.',
  )
}

function slowdowns(report: Report): string {
  const groups = report.records.map((record) => record.slowdowns())
  const sizes = groups.flatMap((group) => group.map(({ sizeMs }) => sizeMs))
  const values = groups.flatMap((group) => group.flatMap(({ median, p99 }) => [median, p99 ?? median]))
  const all = linesOf(report, (record) => {
    const group = record.slowdowns()
    return [
      { points: group.flatMap(({ sizeMs, p99 }) => (p99 === undefined ? [] : [[sizeMs, p99] as const])) },
      { points: group.map(({ sizeMs, median }) => [sizeMs, median] as const), style: 'dashed' },
    ]
  })
  const [, highest] = ends(values, [1, 10])
  const picture = plot(
    {
      x: logAxis('size: time alone on a core', ...ends(sizes, [1, 10]), time),
      y: logAxis('slowdown', 1, Math.max(2, highest * 1.1), plain),
      label: 'Slowdown by size of jobs',
    },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'Slowdown by size',
    picture,
    'Time in the system ÷ time alone on a core, for jobs of about one size: solid the 99th percentile, dashed the median. 1 is a job that never waits. Groups of few jobs are left out.',
  )
}

function waiting(report: Report): string {
  const all = linesOf(report, (record) => [{ points: record.waiting() }])
  const highest = highestOf(all)
  const picture = plot(
    { x: clock(report), y: linearAxis('jobs', 0, highest), label: 'Jobs that wait, over time' },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'Jobs that wait',
    picture,
    `Jobs in the system without a core of their own: in the queue, paused, or sharing a core. Means over short stretches, until the last job arrived.${firstOnly(report)}`,
  )
}

function fleet(report: Report): string {
  const all = linesOf(report, (record) => [
    { points: record.busyCores() },
    { points: record.readyCores(), style: 'dotted', steps: true },
  ])
  const picture = plot(
    { x: clock(report), y: linearAxis('cores', 0, highestOf(all)), label: 'The fleet over time' },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'The fleet',
    picture,
    `Solid: cores that run a job. Dotted: cores of all workers that are ready. Where policies have the same fleet, their dotted lines lie over each other.${firstOnly(report)}`,
  )
}

function clock({ records }: Report) {
  return timeAxis('virtual time', Math.max(1, ...records.map(({ untilMs }) => untilMs)))
}

function pooled({ seeds }: Report): string {
  return seeds > 1 ? ` All ${seeds} seeds together.` : ''
}

function firstOnly({ seeds, firstSeed }: Report): string {
  return seeds > 1 ? ` Seed ${firstSeed} only.` : ''
}

function highestOf(all: readonly Line[]): number {
  return all.reduce((highest, { points }) => points.reduce((most, [, y]) => Math.max(most, y), highest), 1)
}

/** The least and the greatest; where there are none, what is usual. */
function ends(values: readonly number[], usual: [number, number]): [number, number] {
  if (values.length === 0) return usual
  const low = values.reduce((a, b) => Math.min(a, b))
  const high = values.reduce((a, b) => Math.max(a, b))
  return [low, Math.max(high, low * 1.01)]
}
