/**
 * Fuzzes parsers of outside input, and worlds in virtual time. npm run -s fuzz -- NAME|all [--seconds N] [--inputs N] [--seed S] [--no-guide] [--keep]
 * A failing input is written to test/fuzz/crashes; --input FILE runs one input again. --keep adds inputs that reach new
 * code to the corpus. The names cluster-world, process-world, keeper-world and worlds (all three) take --seconds, --inputs
 * (seeds) and --seed; their failures are printed with a shrunken log.
 */

import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { keepCrash, keepInput } from './corpus.ts'
import { textOfError } from './fuzz.ts'
import type { Target } from './target.ts'
import { loadTarget, targetNames } from './targets.ts'
import { type Result, watchTarget } from './watch.ts'
import { fuzzWorldsFrom, worldsNamed } from './worlds.ts'

/** Compiled code and coverage counters may grow by this much. */
const mostGrowthMb = 48
/** Longer inputs are not worth keeping. */
const mostKeptBytes = 2048
const mostKept = 25

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    seconds: { type: 'string' },
    inputs: { type: 'string' },
    seed: { type: 'string', default: `${Date.now() % 2 ** 31}` },
    guide: { type: 'boolean', default: true },
    keep: { type: 'boolean', default: false },
    input: { type: 'string' },
  },
})
const [name = 'all'] = positionals
if (worldsNamed(name).length > 0) process.exitCode = await fuzzWorldsFrom(process.argv.slice(2))
else {
  const chosen = await Promise.all((name === 'all' ? targetNames : [name]).map(loadTarget))
  if (values.input !== undefined) await once(chosen, values.input)
  else await fuzzAll(chosen)
}

async function once([target]: readonly Target[], file: string): Promise<void> {
  if (name === 'all') throw new Error('--input requires the name of a target')
  const opened = await target!.open()
  try {
    console.log(await opened.run(readFileSync(file)))
  } catch (error) {
    const declared = target!.declared(error)
    console.log(declared === undefined ? textOfError(error) : `${declared}: ${(error as Error).message}`)
    process.exitCode = declared === undefined ? 1 : 0
  }
  await opened.close?.()
  process.exit()
}

async function fuzzAll(chosen: readonly Target[]): Promise<void> {
  const seed = Number(values.seed)
  const total = chosen.reduce((sum, { weight = 1 }) => sum + weight, 0)
  const inputs = values.inputs ?? (values.seconds === undefined ? 10_000 : undefined)
  console.log(`seed ${seed}\n`)
  console.log(
    `${'target'.padEnd(16)} inputs  ways  reached  found  crashes  hangs  slowest     growth      peak`,
  )
  const results: Result[] = []
  for (const target of chosen) {
    const part = (target.weight ?? 1) / total
    const result = await watchTarget(target, {
      ...{ seed, guided: values.guide },
      inputs: inputs === undefined ? undefined : Math.ceil(Number(inputs) * part),
      seconds: values.seconds === undefined ? undefined : Number(values.seconds) * part,
    })
    results.push(result)
    show(result)
    if (values.keep) for (const input of kept(result)) keepInput(target.name, input)
  }
  console.log(JSON.stringify(summary(results)))
  process.exitCode = results.every(isGood) ? 0 : 1
}

function kept({ reaching }: Result): Buffer[] {
  return reaching
    .filter(({ length }) => length <= mostKeptBytes)
    .sort((a, b) => a.length - b.length)
    .slice(0, mostKept)
}

function countOf({ failures }: Result, kind: 'crash' | 'hang'): number {
  return failures.filter((failure) => failure.kind === kind).length
}

function isGood(result: Result): boolean {
  return result.failures.length === 0 && result.growthMb <= mostGrowthMb
}

function show(result: Result): void {
  const { target, inputs, behaviours, reached, reaching, failures } = result
  const cells = [
    ...[`${inputs}`.padStart(7), `${Object.keys(behaviours).length}`.padStart(5), `${reached}`.padStart(8)],
    ...[
      `${reaching.length}`.padStart(6),
      `${countOf(result, 'crash')}`.padStart(8),
      `${countOf(result, 'hang')}`.padStart(6),
    ],
    ...[`${result.slowestMs.toFixed(0)} ms`.padStart(8), `${result.growthMb.toFixed(1)} MB`.padStart(10)],
    `${result.peakMb.toFixed(0)} MB`.padStart(9),
  ]
  console.log(`${target.padEnd(15)} ${cells.join(' ')}`)
  for (const { kind, number, message, input } of failures) {
    const file = relative(process.cwd(), keepCrash(target, input))
    console.log(
      `  ${kind} of input ${number}, seed ${values.seed}: ${message.split('\n').slice(0, 5).join('\n').slice(0, 800).replaceAll('\n', '\n    ')}`,
    )
    console.log(`  run it again: npm run -s fuzz -- ${target} --input ${file}`)
  }
}

function summary(results: readonly Result[]) {
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0)
  return {
    inputs: sum(({ inputs }) => inputs),
    crashes: sum((result) => countOf(result, 'crash')),
    hangs: sum((result) => countOf(result, 'hang')),
    rss_growth_mb: Number(Math.max(...results.map(({ growthMb }) => growthMb)).toFixed(1)),
    targets: Object.fromEntries(
      results.map((result) => [
        result.target,
        {
          inputs: result.inputs,
          crashes: countOf(result, 'crash'),
          hangs: countOf(result, 'hang'),
          rss_growth_mb: Number(result.growthMb.toFixed(1)),
        },
      ]),
    ),
  }
}
