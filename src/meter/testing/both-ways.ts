/** Runs a small program as it is and metered in each mode, and fails if anything that it logs differs. */
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { compileFunction } from 'node:vm'
import { type MeterMode, regionMarks } from '../counting.ts'
import { defaultFormula, type Tally } from '../metrics.ts'
import { type Rewritten, rewrite } from '../rewrite.ts'
import { installRuntime } from '../runtime.ts'

export const modes: readonly MeterMode[] = ['work', 'regions', 'routines']

/** What a program did: what it logged, and how it ended. */
export interface Run {
  readonly trace: readonly string[]
  readonly work: number
  /** In mode `regions`: how often each region ran, with what one run of it costs. */
  readonly regions: readonly { readonly times: number; readonly tally: Tally }[]
}

type Log = (...values: unknown[]) => void

/** `source` declares `main(log)`; what it returns, resolves to or throws is logged last. */
export async function bothWays(program: string): Promise<Record<MeterMode, Run>> {
  const source = `${program}\nreturn main`
  const plain = await run(source)
  const runs = {} as Record<MeterMode, Run>
  const hasty = await metered(source, 'work', 2)
  assert.deepEqual(hasty.trace, plain, `often pausing: ${rewritten(source, 'work', 2).code}`)
  for (const mode of modes) {
    runs[mode] = await metered(source, mode)
    const { code } = rewritten(source, mode)
    assert.equal(linesOf(code), linesOf(source), `${mode}: lines moved in\n${code}`)
    assert.deepEqual(runs[mode].trace, plain, `${mode}: ${code}`)
  }
  return runs
}

/** The units that `main` takes in mode `work`. */
export async function workOf(program: string): Promise<number> {
  return (await metered(`${program}\nreturn main`, 'work')).work
}

async function metered(source: string, mode: MeterMode, fullAt?: number): Promise<Run> {
  const runtime = installRuntime(defaultFormula)
  const { code, regions } = rewritten(source, mode, fullAt)
  const base = runtime.place(regions)!
  runtime.begin()
  const trace = await run(code.replace(regionMarks, (_, index: string) => String(base + Number(index))))
  const work = runtime.work()
  const counts = runtime.counts(base, regions.length)
  return { trace, work, regions: regions.map((tally, index) => ({ times: counts[index]!, tally })) }
}

export function rewritten(source: string, mode: MeterMode, fullAt?: number): Rewritten {
  const file = 'file:///program.cjs'
  const options = {
    mode,
    formula: defaultFormula,
    sourceType: 'commonjs',
    file,
    ...(fullAt && { fullAt }),
  } as const
  const result = rewrite(source, options)
  assert.ok(result, 'the program uses the names of the meter')
  return result
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

function linesOf(text: string): number {
  return text.split(/\r\n|[\n\r\u2028\u2029]/).length
}
