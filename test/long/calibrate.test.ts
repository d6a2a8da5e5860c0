/** `plimsoll calibrate`, and a cluster that runs on the constants that it measured. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { readConfigured } from '../../src/cli/cluster/configuration.ts'
import { clusterOptionsFrom } from '../../src/cli/cluster/from-options.ts'
import { upOptions } from '../../src/cli/cluster/up-options.ts'
import { readConstants } from '../../src/systems/constants.ts'
import { measuredConstants } from '../../src/systems/presets.ts'
import type { PlacingOptions } from '../../src/systems/schedulers.ts'
import { cli, patient, startLive, stopLive, until } from '../support/live.ts'

const run = promisify(execFile)

function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), 'plimsoll-calibrate-test-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  return made
}

test('CN-17 calibration profiles Gray-Scott, and a cluster counts by the constants that it wrote', async (t) => {
  const at = folder(t)
  const file = join(at, 'measured.yaml')
  const figures = join(at, 'figures')
  const { stdout, stderr } = await run(process.execPath, [
    ...[cli, 'calibrate', '--preset', 'cnv', '--quick', '--out', file, '--figures', figures],
  ])
  assert.match(stderr, /\d+ s, 50 %: Gray-Scott of 128², 20 iterations/)
  assert.match(stdout, /plimsoll up --preset cnv --config/)
  assert.match(
    readFileSync(file, 'utf8'),
    /# +cellInstructions \S+ \(without this file: 274\)\n# +instructions: /,
  )
  assert.deepEqual(readdirSync(figures), ['cnv-cells.svg'])
  assert.match(readFileSync(join(figures, 'cnv-cells.svg'), 'utf8'), /^<svg [\s\S]*<\/svg>\n$/)

  const { values, config } = await readConfigured(['--config', file], upOptions, assert.fail)
  const { cellInstructions, cellAccesses } = readConstants(values.constants!, 'cnv', measuredConstants.cnv)
  const { limits, ...options } = clusterOptionsFrom({ ...values, port: 0, adminPort: 0 }, () => {}, config)
  const live = await startLive({
    ...options,
    ...{ dataDir: join(at, 'data'), min: 1, max: 1, limits: { ...limits, ...patient } },
    ...{ scheduler: 'least-connections', placing: {} },
  })
  t.after(() => stopLive(live))
  const answer = await fetch(`${live.url}/grayscott?size=32&iterations=50`)
  await answer.arrayBuffer()
  const cells = 32 ** 2 * 50
  const counted = (name: string) => Number(answer.headers.get(name)) / cells
  assert.equal(answer.status, 200)
  assert.ok(Math.abs(counted('x-cnv-instcount') / Number(cellInstructions) - 1) < 1e-4)
  assert.ok(Math.abs(counted('x-cnv-totalaccesses') / Number(cellAccesses) - 1) < 1e-4)
})

/** Its rank is about 4.4 billion. */
const semiprime = '14400004560000217'

test('CP-18 CP-19 calibration measures class bounds and limits, and a cluster classes requests by them', async (t) => {
  const at = folder(t)
  const file = join(at, 'measured.yaml')
  const figures = join(at, 'figures')
  await run(process.execPath, [
    ...[cli, 'calibrate', '--preset', 'cloudprime', '--quick', '--out', file, '--figures', figures],
  ])
  // The higher the rank, the longer a request took.
  const svg = readFileSync(join(figures, 'cloudprime-rank.svg'), 'utf8')
  const [, agree, all] = /(\d+) of (\d+) pairs in the same order/.exec(svg)!
  assert.deepEqual([Number(agree), Number(all)], [15, 15])

  const { values, config } = await readConfigured(['--config', file], upOptions, assert.fail)
  const measured = readConstants(values.constants!, 'cloudprime', measuredConstants.cloudprime)
  const { intermediate, max, metricsEvery, mostIntermediate, mostMax } = measured as Record<string, number>
  // Both bounds are rounded.
  assert.ok(Math.abs(max! / intermediate! - 10) < 0.1)
  assert.ok(metricsEvery! > 0)
  for (const most of [mostIntermediate!, mostMax!]) assert.ok(Number.isInteger(most) && most >= 1)

  const workScale = intermediate! / 2e9
  const scaled = { ...values, workScale, port: 0, adminPort: 0 }
  const { limits, ...options } = clusterOptionsFrom(scaled, () => {}, config)
  const { classes } = options.placing as PlacingOptions
  assert.deepEqual([classes!.mostIntermediate, classes!.mostMax], [mostIntermediate, mostMax])
  const live = await startLive({
    ...options,
    ...{ dataDir: join(at, 'data'), min: 2, max: 2, limits: { ...limits, ...patient } },
  })
  t.after(() => stopLive(live))
  const counted = async () => {
    const answer = fetch(`${live.url}/factorize?n=${semiprime}`)
    const holder = () => live.state().workers.find(({ jobs }) => jobs.length > 0)
    await until(() => holder() !== undefined, 'a worker has the request')
    const { max: ofMax, intermediate: ofIntermediate } = holder()!.figures
    assert.equal((await answer).status, 200)
    await live.ledger.flush()
    return [ofMax, ofIntermediate]
  }
  // Of a new request the rank is the number itself.
  assert.deepEqual(await counted(), [1, 0])
  assert.deepEqual(await counted(), [0, 1])
})

test('calibrate rejects what it cannot use before it measures', async (t) => {
  const at = folder(t)
  const problem = async (...args: string[]) => {
    const failed = await run(process.execPath, [cli, 'calibrate', ...args]).then(
      () => assert.fail('no error'),
      (error: { stderr: string; code: number }) => error,
    )
    assert.equal(failed.code, 2)
    return failed.stderr
  }
  assert.match(await problem(), /--preset: required: one of tiered, cloudprime/)
  assert.match(await problem('--preset', 'nginx'), /--preset = nginx: must be one of/)
  assert.match(
    await problem('--preset', 'cnv', '--out', join(at, 'x.json')),
    /--out = .*x.json: must end with .yaml/,
  )
  assert.match(
    await problem('--preset', 'cnv', '--out', join(at, 'no', 'x.yaml')),
    /its folder does not exist/,
  )
})
