/**
 * `npm run check:mutations [-- SYSTEM…] [--file PART] [--sample N --seed N]`: plants one wrong constant at a time in the five systems
 * and runs the tests of that system, which must fail. Exits with 1 if they pass with a wrong constant.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { oneOf } from '../../../src/lib/one-of.ts'
import { stream } from '../../../src/lib/random.ts'
import { type Constant, constantsOf, type System, systems, wrongValues } from './constants.ts'
import type { Planted } from './planted.ts'

/** A wrong constant can make a test loop: a run has failed that takes ten times as long as without, or this long. */
const leastMs = 20_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      file: { type: 'string', default: '' },
      sample: { type: 'string' },
      seed: { type: 'string', default: '1' },
      verbose: { type: 'boolean' },
    },
  })
  const names = positionals.length > 0 ? positionals : [...systems]
  for (const name of names) oneOf('system', name, Object.fromEntries(systems.map((each) => [each, each])))
  const chosen = names as System[]
  const limits = new Map<System, number>()
  for (const system of chosen) {
    const began = performance.now()
    const failure = await firstFailure(system)
    limits.set(system, Math.ceil(Math.max(leastMs, 10 * (performance.now() - began))))
    if (failure !== undefined)
      throw new Error(`the tests of ${system} fail without a wrong constant: ${failure}`)
  }
  const all = chosen.flatMap(constantsOf).filter(({ file }) => file.includes(values.file))
  const todo = values.sample === undefined ? all : sampled(all, Number(values.sample), Number(values.seed))
  const survivors = new Set<Constant>()
  const queue = todo.flatMap((constant) => wrongValues(constant.value).map((wrong) => ({ constant, wrong })))
  const total = queue.length
  await Promise.all(
    Array.from({ length: Math.min(2, availableParallelism()) }, async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { constant, wrong } = next
        const failure = await firstFailure(constant.system, {
          planted: planted(constant, wrong),
          timeout: limits.get(constant.system)!,
        })
        if (failure === undefined) console.log(`not caught: ${describe(constant, wrong)}`)
        else if (values.verbose) console.log(`${describe(constant, wrong)}: ${failure.split('\n', 1)[0]}`)
        if (failure === undefined) survivors.add(constant)
        if (process.stderr.isTTY) process.stderr.write(`\r${total - queue.length} of ${total}`)
      }
    }),
  )
  const caught = todo.length - survivors.size
  console.log(`${caught} of ${todo.length} constants caught`)
  if (caught < todo.length) process.exitCode = 1
}

function describe({ file, line, value, source }: Constant, wrong: number): string {
  return `${file}:${line}: ${value} → ${wrong} in \`${source}\``
}

function planted({ file, start, end }: Constant, wrong: number): Planted {
  return { url: pathToFileURL(resolve(file)).href, start, end, text: `${wrong}` }
}

/** The tests of a system. Tests that start processes come last, because they take longer. */
function testsOf(system: System): string[] {
  const files = globSync(`src/systems/${system}/*.test.ts`)
  const isSlow = (file: string) => /openPool|spawn|Cluster/.test(readFileSync(file, 'utf8'))
  return files.toSorted((a, b) => Number(isSlow(a)) - Number(isSlow(b)) || a.localeCompare(b))
}

interface PlantedRun {
  planted: Planted
  timeout: number
}

/** Runs the tests of a system up to the first failure. */
async function firstFailure(system: System, what?: PlantedRun): Promise<string | undefined> {
  const here = (file: string) => new URL(file, import.meta.url).href
  const hook = what ? [`--import=${here('plant.ts')}`] : []
  const options = [...hook, '--test', '--test-isolation=none', `--test-reporter=${here('first-failure.ts')}`]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, [...options, ...testsOf(system)], {
    env: { ...env, ...(what && { PLIMSOLL_PLANTED: JSON.stringify(what.planted) }) },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(what && { timeout: what.timeout, killSignal: 'SIGKILL' }),
  })
  running.add(child)
  let text = ''
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  const code = await new Promise<number | null>((done) => child.once('close', done))
  running.delete(child)
  return code === 0 ? undefined : text || `it ended with ${code}`
}

function sampled(all: Constant[], count: number, seed: number): Constant[] {
  const ranks = stream(seed, 'constants')
  return all
    .map((constant) => ({ constant, rank: ranks.next() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ constant }) => constant)
}

await main()
