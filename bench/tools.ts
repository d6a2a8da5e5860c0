/**
 * The experiment with which the authors of HillClimbing@Cloud chose their meter: nine searches under each tool that they
 * tried; its overhead, and how well what it counts follows CPU time. A tool that meters the solver is compared with the CPU
 * time of the search, and our default meter with that of the whole request, because it counts all of that.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { table } from '../src/cli/terminal/table.ts'
import { thousandths } from '../src/lib/quantities.ts'
import { defaultMeter } from '../src/meter/hooks.ts'
import type { Formula, Metric } from '../src/model/metrics.ts'
import { workOf } from '../src/model/metrics.ts'
import { geomean, Pair } from './meter/pair.ts'
import type { BenchOptions } from './options.ts'
import { publishedOverheads, searches } from './tools/document.ts'
import { runSearches, type SearchFigures, type Tool } from './tools/runs.ts'

const memory: Formula = { fieldLoads: 1, stackLoads: 1, stores: 1 }

/** Counting any metric takes one counter for each region, so `memory` stands for all of them in overhead. */
const runs = {
  routines: { mode: 'routines', formula: { instructions: 1 } },
  blocks: { mode: 'work', formula: { instructions: 1 } },
  memory: { mode: 'regions', formula: memory },
  branches: { mode: 'regions', formula: { branches: 1 } },
  default: { ...defaultMeter },
} as const satisfies Record<string, Tool>

type RunName = keyof typeof runs

/** What each tool counts, which run measures it, and the name of its kind in the report. */
const counted: readonly { name: string; run: RunName; formula?: Formula; published?: number }[] = [
  { name: 'instructions by routine', run: 'routines', published: publishedOverheads.routines },
  { name: 'instructions by block', run: 'blocks', published: publishedOverheads.blocks },
  { name: 'our default', run: 'default' },
  { name: 'loads and stores', run: 'memory', published: publishedOverheads.memory },
  ...typed('field loads', 'fieldLoads'),
  ...typed('stack loads', 'stackLoads'),
  ...typed('stores', 'stores'),
  ...typed('allocations', 'allocations'),
  ...typed('methods', 'calls'),
  ...typed('blocks', 'blocks'),
  { name: 'taken branches', run: 'branches', published: publishedOverheads.branches },
]

function typed(name: string, metric: Metric) {
  return [{ name, run: 'memory' as const, formula: { [metric]: 1 } }]
}

export async function tools({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const figures = await runSearches(runs, quick ? 5 : 11)
  const requests = await wholeRequests(quick ? 5 : 9, quick ? 5 : 10)
  console.log(tableOfTools(figures))
  console.log(`\n${tableOfSearches(figures)}`)
  const ours = figures.map(({ byTool }) => byTool.routines!.work)
  console.log(
    `\nOrder of size, by strategy: ${orders(ours)}; in the report: ${orders(searches.map((it) => it.instructions))}.`,
  )
  console.log(`\n${tableOfDefault(figures, requests.byCase)}`)
  console.log(
    `\nThe default meter on whole requests, with their pictures: overhead ${requests.overhead.toFixed(3)}, ` +
      `${requests.leastMs.toFixed(0)}–${requests.mostMs.toFixed(0)} ms, work per CPU second within ${requests.spread.toFixed(2)}.`,
  )
  return {
    routine_overhead: overheadOf(figures, 'routines'),
    block_overhead: overheadOf(figures, 'blocks'),
    memory_overhead: overheadOf(figures, 'memory'),
    branch_overhead: overheadOf(figures, 'branches'),
    default_work_per_cpu_spread: thousandths(requests.spread),
    default_solver_work_per_cpu_spread: thousandths(
      spread(
        figures.map(({ byTool }) => byTool.default!.work),
        figures,
      ),
    ),
    routine_work_per_cpu_spread: thousandths(spread(ours, figures)),
  }
}

/** The default meter counts whole requests. `calm`: rounds without a faster run until the fastest ones are believed. */
async function wholeRequests(rounds: number, calm: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  const casesFile = fileURLToPath(new URL('./tools/requests.ts', import.meta.url))
  try {
    const pair = await Pair.start('hillclimb', { dataDir, quick: false, exactAtOnce: true, casesFile })
    await pair.warmUp()
    for (let round = 0; round < rounds; round++) await pair.round(round)
    await pair.settle({ calm, most: 6 * calm })
    await pair.end()
    return pair.figures()
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function overheadOf(figures: readonly SearchFigures[], run: RunName): number {
  return thousandths(geomean(figures.map(({ byTool }) => byTool[run]!.overhead)))
}

/** The most that is counted in a second of CPU time ÷ the least. */
function spread(counts: readonly number[], figures: readonly SearchFigures[]): number {
  const rates = counts.map((count, i) => count / figures[i]!.plainMs)
  return Math.max(...rates) / Math.min(...rates)
}

/** Pearson's coefficient of the logarithms. */
function correlation(counts: readonly number[], figures: readonly SearchFigures[]): number {
  const centred = (values: readonly number[]) => {
    const logs = values.map(Math.log)
    const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length
    return logs.map((log) => log - mean)
  }
  const [x, y] = [centred(counts), centred(figures.map(({ plainMs }) => plainMs))]
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, each, i) => sum + each * b[i]!, 0)
  return product(x, y) / Math.sqrt(product(x, x) * product(y, y))
}

function tableOfTools(figures: readonly SearchFigures[]): string {
  const rows = counted.map(({ name, run, formula, published }) => {
    const counts = figures.map(({ byTool }) => {
      const { work, tally } = byTool[run]!
      return formula ? workOf(tally, formula) : work
    })
    const isThere = counts.every((count) => count > 0)
    return [
      name,
      overheadOf(figures, run).toFixed(3),
      published === undefined ? '–' : published.toFixed(2),
      isThere ? spread(counts, figures).toFixed(2) : '–',
      isThere ? correlation(counts, figures).toFixed(3) : '–',
    ]
  })
  return table(
    ['counts, of the solver', 'overhead', 'in the report', 'spread per CPU time', 'correlation'],
    rows,
  )
}

/** Table 2 of the report, and ours beside it. */
function tableOfSearches(figures: readonly SearchFigures[]): string {
  const rows = searches.map(({ strategy, side, seconds, instructions }, i) => {
    const { plainMs, visited, byTool } = figures[i]!
    return [
      `${strategy} ${side}`,
      seconds.toFixed(3),
      millions(instructions),
      (plainMs / 1000).toFixed(5),
      millions(byTool.routines!.work),
      visited.toLocaleString('en-US'),
    ]
  })
  const head = ['search', 'report: s', 'report: million', 'ours: CPU s', 'ours: million', 'cells visited']
  return table(head, rows)
}

/** What the default meter counts in a whole request, and in the search alone, and how fast. */
function tableOfDefault(
  figures: readonly SearchFigures[],
  requests: readonly { work: number; fastestMs: number }[],
): string {
  const cellsOf = (work: number, ms: number) => [ms.toFixed(2), millions(work), millions(work / ms)]
  const rows = searches.map(({ strategy, side }, i) => {
    const { work, fastestMs } = requests[i]!
    const { plainMs, byTool } = figures[i]!
    const solver = byTool.default!.work
    return [
      `${strategy} ${side}`,
      ...cellsOf(work, fastestMs),
      ...cellsOf(solver, plainMs),
      millions((work - solver) / (fastestMs - plainMs)),
    ]
  })
  const head = ['request: CPU ms', 'million', 'per ms', 'search: CPU ms', 'million', 'per ms', 'rest: per ms']
  return table(['search', ...head], rows)
}

function millions(count: number): string {
  return (count / 1e6).toFixed(1)
}

/** The sides from the most to the least counted, for each strategy. */
function orders(counts: readonly number[]): string {
  return ['BFS', 'DFS', 'ASTAR']
    .map((name) => {
      const own = searches.map(({ strategy, side }, i) => ({ strategy, side, count: counts[i]! }))
      const sorted = own.filter(({ strategy }) => strategy === name).sort((a, b) => b.count - a.count)
      return `${name} ${sorted.map(({ side }) => side).join(' > ')}`
    })
    .join(', ')
}
