/** The report page that compares policies on the same jobs. */

import { linearAxis, logAxis, percent, plain, time, timeAxis, wholeDecades } from './axis.ts'
import { type Line, lines, plot, sample } from './chart.ts'
import { lookOf } from './colours.ts'
import { escaped, page, tableOf } from './page.ts'
import { leastForP99, type PolicyRecord, type SizeGroup } from './record.ts'

export interface Report {
  title: string
  /** Paragraphs that describe the simulation. */
  about: readonly string[]
  /** The command that reproduces this page. */
  command: string
  table: { head: readonly string[]; rows: readonly (readonly string[])[]; words: number }
  tableCaption: string
  records: readonly PolicyRecord[]
  seeds: number
  firstSeed: number
  /** The start of virtual time, if it is a date of a trace. */
  begins?: string | undefined
}

export function reportPage(report: Report): string {
  return jointPage(report.title, report.command, [report])
}

/** Several reports on one page. */
export function jointPage(title: string, command: string, reports: readonly Report[]): string {
  return page({
    title: `Plimsoll: ${title}`,
    body: `${reports.map(sectionOf).join('\n')}
<p>Made by <code>${escaped(command)}</code></p>`,
  })
}

function sectionOf(report: Report): string {
  const { title, about, table, tableCaption } = report
  const figures = [responses(report), tail(report), ...slowdowns(report), waiting(report), fleet(report)]
  return `<h1>${escaped(title)}</h1>
${about.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('\n')}
${tableOf(table.head.map(unbroken), table.rows, table.words)}
<p>${escaped(unbroken(tableCaption))}</p>
<main>
${figures.join('\n')}
</main>`
}

function figure(report: Report, title: string, picture: string, caption: string, wide = false): string {
  const entries = report.records.map(({ name }, i) => `<li>${sample(lookOf(i))}${escaped(name)}</li>`)
  return `<figure${wide ? ' class="wide"' : ''}>
<h2>${escaped(title)}</h2>
<ul class="legend">${entries.join('')}</ul>
${picture}
<figcaption>${escaped(unbroken(caption))}</figcaption>
</figure>`
}

/** The lines of each policy, in its colour. */
function linesOf({ records }: Report, draw: (record: PolicyRecord) => Omit<Line, 'colour'>[]): Line[] {
  return records.flatMap((record, i) => draw(record).map((line) => ({ ...lookOf(i), ...line })))
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
    'The tail of the same distribution: the share of jobs that took longer than a time. 1 % is the 99th percentile; lower is better.',
  )
}

/** Both plots use the same axes, for comparison. */
function slowdowns(report: Report): string[] {
  const groups = report.records.map((record) => record.slowdowns())
  const sizes = groups.flatMap((group) => group.map(({ sizeMs }) => sizeMs))
  const values = groups.flatMap((group) => group.flatMap(({ median, p99 }) => [median, p99 ?? median]))
  const [, highest] = ends(values, [1, 10])
  const panel = (label: string, value: (group: SizeGroup) => number | undefined) => {
    const all = linesOf(report, (record) => [
      {
        points: record.slowdowns().flatMap((group) => {
          const slowdown = value(group)
          return slowdown === undefined ? [] : [[group.sizeMs, slowdown] as const]
        }),
      },
    ])
    const x = logAxis('size of the job: time alone on a core', ...ends(sizes, [1, 10]), time)
    const y = logAxis('slowdown', 0.9, Math.max(2, highest * 1.1), plain)
    return plot({ x, y, label }, (at) => lines(at, all))
  }
  return [
    figure(
      report,
      'Slowdown by size, median',
      panel('Median slowdown by size of jobs', ({ median }) => median),
      'Slowdown is time in the system ÷ time alone on a core; here its median over jobs of similar size. A job that never waits has 1.',
    ),
    figure(
      report,
      'Slowdown by size, 99th percentile',
      panel('99th percentile of slowdown by size of jobs', ({ p99 }) => p99),
      `The 99th percentile over jobs of similar size. Sizes with fewer than ${leastForP99} jobs are omitted.`,
    ),
  ]
}

function waiting(report: Report): string {
  const all = linesOf(report, (record) => [{ points: record.waiting(), thin: true }])
  const picture = plot(
    {
      ...wideFrame,
      x: clock(report),
      y: linearAxis('jobs', 0, highestOf(all)),
      label: 'Waiting jobs over time',
    },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'Waiting jobs',
    picture,
    `Jobs without their own core: queued, paused, or sharing a core. Means over short intervals, until the last job arrived.${firstOnly(report)}`,
    true,
  )
}

function fleet(report: Report): string {
  const all = linesOf(report, (record) => [
    { points: record.busyCores(), thin: true },
    { points: record.readyCores(), style: 'dotted', steps: true },
  ])
  const picture = plot(
    {
      ...wideFrame,
      x: clock(report),
      y: linearAxis('cores', 0, highestOf(all) * 1.05),
      label: 'The fleet over time',
    },
    (at) => lines(at, all),
  )
  return figure(
    report,
    'The fleet',
    picture,
    `Solid: cores that run a job. Dotted: cores of ready workers. The dotted lines of policies with the same fleet coincide.${firstOnly(report)}`,
    true,
  )
}

const wideFrame = { width: 1180, height: 270 }

/** Keeps a number and its per cent sign on one line. */
function unbroken(text: string): string {
  return text.replaceAll(' %', '\u00a0%')
}

function clock({ records, begins }: Report) {
  return timeAxis(
    begins === undefined ? 'of virtual time' : `since ${begins}`,
    Math.max(1, ...records.map(({ untilMs }) => untilMs)),
  )
}

function pooled({ seeds, firstSeed }: Report): string {
  return seeds > 1 ? ` Seeds ${firstSeed} to ${firstSeed + seeds - 1} together.` : ''
}

function firstOnly({ seeds, firstSeed }: Report): string {
  return seeds > 1 ? ` Seed ${firstSeed} only.` : ''
}

function highestOf(all: readonly Line[]): number {
  return all.reduce((highest, { points }) => points.reduce((most, [, y]) => Math.max(most, y), highest), 1)
}

/** The minimum and maximum; `usual` without values. */
function ends(values: readonly number[], usual: [number, number]): [number, number] {
  if (values.length === 0) return usual
  const low = values.reduce((a, b) => Math.min(a, b))
  const high = values.reduce((a, b) => Math.max(a, b))
  return [low, Math.max(high, low * 1.01)]
}
