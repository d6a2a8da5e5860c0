/**
 * `node test/checks/aws/dynamodb.ts [SUITE …]`: the contract of stores on SQLite, PostgreSQL, Amazon's DynamoDB Local and moto, and the
 * tables of the published systems on both of the latter. Installs what it needs into a cache outside the repository; what
 * cannot be installed is a failure. The last line is JSON.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Stand, type StandName, startStand } from '../../stands/dynamodb/server.ts'
import type { Part } from './part.ts'

interface Suite {
  name: string
  files: readonly string[]
  stand?: StandName
  /** Parts of the names of tests that the server cannot run. */
  skips?: readonly string[]
}

interface Counts {
  pass: number
  fail: number
  skipped: number
}

const filesOf = (...names: string[]) => names.map((name) => `test/checks/aws/dynamodb-${name}.test.ts`)
const suites: readonly Suite[] = [
  { name: 'sqlite', files: ['src/store/sqlite.test.ts'] },
  { name: 'postgres', files: ['test/long/postgres-store.test.ts'] },
  { name: 'dynamodb_local', files: filesOf('store', 'tables', 'faults', 'up'), stand: 'local' },
  // moto copies all items for each transaction, and ignores the tokens of transactions, by which lost answers are known again.
  {
    name: 'moto',
    files: filesOf('store', 'tables'),
    stand: 'moto',
    skips: ['500 jobs', 'one sweep removes everything', 'a killed process'],
  },
]
const root = join(import.meta.dirname, '../../..')

async function runSuite({ files, stand: name, skips = [] }: Suite): Promise<Counts> {
  const stand = name && (await startStand(name))
  try {
    return await test([...skips.map((each) => `--test-skip-pattern=${each}`), ...files], stand)
  } finally {
    await stand?.stop()
  }
}

/** Prints the names of tests that fail, with their errors. */
async function test(asked: readonly string[], stand: Stand | undefined): Promise<Counts> {
  const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', '--test-timeout=240000', ...asked]
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...(stand && { PLIMSOLL_DYNAMODB: stand.endpoint }),
      ...(stand?.reset && { PLIMSOLL_DYNAMODB_RESET: stand.reset }),
    },
  })
  const exited = once(child, 'exit')
  const counts: Counts = { pass: 0, fail: 0, skipped: 0 }
  for await (const line of createInterface(child.stdout)) {
    const [, what, number] = /^ℹ (pass|fail|skipped) (\d+)$/.exec(line) ?? []
    if (what !== undefined) counts[what as keyof Counts] = Number(number)
    if (!/^(✔|ℹ)/.test(line)) console.log(line)
  }
  const [code] = await exited
  if (code !== 0 && counts.fail === 0) counts.fail = 1
  return counts
}

type Results = Record<string, (Counts & { left_out?: readonly string[] }) | { error: string }>

/** Without names: all suites. */
async function runSuites(names: readonly string[]): Promise<{ results: Results; isGood: boolean }> {
  const results: Results = {}
  let isGood = true
  for (const suite of suites.filter(({ name }) => names.length === 0 || names.includes(name))) {
    console.log(`${suite.name} …`)
    try {
      const counts = await runSuite(suite)
      results[suite.name] = { ...counts, ...(suite.skips && { left_out: suite.skips }) }
      isGood &&= counts.fail === 0 && counts.skipped === 0 && counts.pass > 0
    } catch (error) {
      results[suite.name] = { error: (error as Error).message }
      isGood = false
    }
  }
  return { results, isGood }
}

/** SQLite and PostgreSQL are covered by `npm test` and `npm run check:thorough`. */
export const dynamoTables: Part = {
  name: 'DynamoDB',
  async run(say) {
    const { results, isGood } = await runSuites(['dynamodb_local', 'moto'])
    say(JSON.stringify(results))
    if (!isGood) throw new Error('a suite has failed')
    return {}
  },
}

if (import.meta.main) {
  // Servers end with this process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const { results, isGood } = await runSuites(process.argv.slice(2))
  console.log(JSON.stringify(results))
  process.exitCode = isGood ? 0 : 1
}
