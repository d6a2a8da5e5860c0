/**
 * Runs third-party packages and random programs both metered and unmetered, and compares their outputs. Part of
 * `npm run check`; arguments select packages. Exits with 1 if an output differs or too few lines were metered.
 */
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { table } from '../../src/cli/terminal/table.ts'
import { bothWays } from '../../src/meter/testing/both-ways.ts'
import { randomPrograms } from '../../src/meter/testing/random-programs.ts'
import { type Comparison, compare } from './meter/compare.ts'
import { suites } from './meter/suites.ts'

const minLines = 100_000
const programs = 800
const concurrency = 2

async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true })
  const unknown = positionals.find((name) => !suites.some((suite) => suite.name === name))
  if (unknown !== undefined) {
    console.error(`unknown package ${unknown}; must be one of ${suites.map(({ name }) => name).join(', ')}`)
    process.exitCode = 2
    return
  }
  const todo = suites.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  const results = await inParallel(
    todo.map(({ name, small }) => async () => {
      const result = await compare(name, small ? ['work', 'regions', 'routines'] : ['work', 'regions'])
      console.error(`${name}: ${result.differences.length === 0 ? 'the same' : 'DIFFERS'}`)
      return result
    }),
  )
  console.log(table(head, results.map(row), [0]))
  const lines = results.reduce((sum, result) => sum + result.lines, 0)
  console.log(`\n${lines.toLocaleString('en')} lines of JavaScript were metered`)
  const differences = results.flatMap((result) => result.differences)
  if (positionals.length === 0) differences.push(...(await runPrograms()))
  for (const difference of differences) console.log(difference)
  const tooFew = positionals.length === 0 && lines < minLines
  if (tooFew) console.log(`too few: at least ${minLines.toLocaleString('en')} lines are required`)
  if (differences.length > 0 || tooFew) process.exitCode = 1
}

async function runPrograms(): Promise<string[]> {
  const property = fc.asyncProperty(randomPrograms, async (program) => void (await bothWays(program)))
  // Shrinking a long program takes too long.
  const found = await fc.check(property, { seed: 2, numRuns: programs, endOnFailure: true })
  if (found.failed) return [`${found.errorInstance}\n\n${found.counterexample?.[0]}`]
  console.log(`${programs} random programs had the same output`)
  return []
}

const head = ['package', 'modules', 'lines', 'regions', 'run', 'cases', 'plain s', 'metered s', 'same']

function row(it: Comparison): string[] {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  return [
    it.suite,
    ...[it.modules, it.lines, it.regions ?? 0, it.regionsRun ?? 0, it.cases].map((n) =>
      n.toLocaleString('en'),
    ),
    seconds(it.plainMs),
    seconds(it.meteredMs),
    it.differences.length === 0 ? 'yes' : 'NO',
  ]
}

async function inParallel<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < tasks.length; index = next++) results[index] = await tasks[index]!()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}

await main()
