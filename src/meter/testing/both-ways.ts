/** Runs a small program unmetered and metered in each mode, and fails if anything that it logs differs. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { compileFunction } from 'node:vm'
import type { MeterMode } from '../../model/metering.ts'
import { defaultFormula, type Tally } from '../../model/metrics.ts'
import { regionMarks } from '../counting.ts'
import { rewrite } from '../rewrite.ts'
import { installRuntime } from '../runtime.ts'

export interface Run {
  /** What the program logged, and how it ended. */
  readonly trace: readonly string[]
  readonly work: number
  /** In mode `regions`: the number of runs of each region, and the cost of one run. */
  readonly regions: readonly { readonly times: number; readonly tally: Tally }[]
  readonly code: string
}

type Log = (...values: unknown[]) => void

/**
 * The program declares `main(log)`; its result or error is logged last. `eager` is mode `work` with loops that report
 * constantly.
 */
export async function bothWays(program: string): Promise<Record<MeterMode | 'eager', Run>> {
  const plain = await run(withMain(program))
  const runs = {
    work: await metered(program, 'work'),
    eager: await metered(program, 'work', 2),
    regions: await metered(program, 'regions'),
    routines: await metered(program, 'routines'),
  }
  for (const [mode, { code, trace }] of Object.entries(runs)) {
    assert.equal(linesOf(code), linesOf(withMain(program)), `${mode}: lines moved in\n${code}`)
    assert.deepEqual(trace, plain, `${mode}: ${code}`)
  }
  return runs
}

export async function metered(program: string, mode: MeterMode, fullAt?: number): Promise<Run> {
  const runtime = installRuntime(defaultFormula)
  const result = rewrite(withMain(program), {
    mode,
    formula: defaultFormula,
    sourceType: 'commonjs',
    file: 'file:///program.cjs',
    ...(fullAt && { fullAt }),
  })
  assert.ok(result, "the program uses the meter's reserved names")
  const base = runtime.addRegions(result.regions)!
  const code = result.code.replace(regionMarks, (_, index: string) => String(base + Number(index)))
  runtime.begin()
  const trace = await run(code)
  const work = runtime.work()
  const counts = runtime.counts(base, result.regions.length)
  const regions = result.regions.map((tally, index) => ({ times: counts[index]!, tally }))
  return { trace, work, regions, code }
}

async function run(code: string): Promise<string[]> {
  const trace: string[] = []
  const log: Log = (...values) => {
    trace.push(values.map((value) => inspect(value, { depth: 6, sorted: true })).join(' '))
  }
  const main = compileFunction(code)() as (log: Log) => unknown
  try {
    log('returned', await main(log))
  } catch (error) {
    log('threw', error instanceof Error ? `${error.name}: ${error.message}` : error)
  }
  return trace
}

function withMain(program: string): string {
  return `${program}\nreturn main`
}

function linesOf(text: string): number {
  return text.split(/\r\n|[\n\r\u2028\u2029]/).length
}
