/** Runs every program in examples/library as a user would. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'

const folder = resolve(import.meta.dirname, '../../examples/library')

/** What each program prints. */
const printed: Record<string, RegExp> = {
  'program.ts': /^\[\{"n":1000,"count":168\},.*\{"n":3000,"count":430\}\]\n3 results by real workers\n$/,
  'in-a-test.test.ts': /counts the primes below a hundred.*pass 1\b/s,
  'typed-client.ts':
    /^expected: .*669 primes below 5000, in 1 attempt, metered\n400 bad-parameters: n: .*TimeoutError\n$/s,
  'own-scheduler.ts': /^least-connections:fifo: .*soonest-idle: .*srpt: .*3 answers under soonest-idle\n$/s,
  'own-scaler.ts': /^\d+ % fewer worker-hours.*1 worker launched: 0 cores are busy and 0 jobs wait\n$/s,
  'own-estimator.ts':
    /^slowdown [\d.]+ with .*before: 10\.00 units a step; after one job: (?!10\.00)[\d.]+ units/s,
  'compare.ts': /^20000 jobs at load 0\.9.*round-robin.*least-work.*srpt.*\n$/s,
}

/** The test runner of this process would take the output of a nested one for its own. */
const { NODE_TEST_CONTEXT: _, ...env } = process.env

for (const [file, pattern] of Object.entries(printed)) {
  test(`examples/library/${file} runs and prints what it promises`, async () => {
    const flags = file.endsWith('.test.ts') ? ['--test'] : []
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, join(folder, file)], {
      ...{ env, timeout: 120_000 },
    })
    assert.match(stdout, pattern)
  })
}

test('no example is left out', () => {
  const programs = readdirSync(folder).filter((file) => file.endsWith('.ts'))
  assert.deepEqual(programs.sort(), Object.keys(printed).sort())
})
