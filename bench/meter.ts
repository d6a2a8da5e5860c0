/**
 * The meter: its overhead, how well metered work agrees with CPU time, and how old the reported progress of a running
 * job is. Each workload runs alternately in two processes, metered and not; a request's overhead is the median of its
 * metered time ÷ its unmetered time right before or after. Figures are medians of process CPU time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { table } from '../src/cli/terminal/table.ts'
import { streamNames } from './estimate/stream.ts'
import { ages } from './meter/age.ts'
import { type Figures, geomean, Pair } from './meter/pair.ts'
import type { BenchOptions } from './options.ts'

/** Reported separately: SQLite does its work, which is counted by rows and bytes. */
const apart = 'shop'
const names = streamNames.filter((name) => name !== apart)

export async function meter({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  const all: Figures[] = []
  try {
    for (const name of [...names, apart]) {
      const pair = await Pair.start(name, { dataDir, quick, exactAtOnce: name !== apart })
      await pair.warmUp()
      for (let round = 0; round < (quick ? 3 : 5); round++) await pair.round(round)
      await pair.end()
      all.push(pair.figures())
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
  const age = await ages(names, quick)
  console.log(
    table(
      ['workload', 'requests', 'CPU ms', 'overhead', 'fidelity', 'units/ms', 'age p99 ms', 'age max ms'],
      all.map((it) => [
        it.name,
        String(it.cases),
        `${it.leastMs.toFixed(1)}–${it.mostMs.toFixed(0)}`,
        it.overhead.toFixed(3),
        it.fidelity.toFixed(3),
        it.workPerMs.toExponential(2),
        age.byName[it.name]?.p99.toFixed(1) ?? '–',
        age.byName[it.name]?.max.toFixed(1) ?? '–',
      ]),
    ),
  )
  console.log(
    `${apart} is not in the figures below: SQLite does its work, which is counted by rows and bytes.`,
  )
  const figures = all.filter(({ name }) => name !== apart)
  return {
    overhead_geomean: round(geomean(figures.map((it) => it.overhead))),
    overhead_max: round(Math.max(...figures.map((it) => it.overhead))),
    fidelity_p95_worst: round(Math.max(...figures.map((it) => it.fidelity))),
    progress_age_p99_ms: round(age.p99),
    progress_age_max_ms: round(age.max),
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
