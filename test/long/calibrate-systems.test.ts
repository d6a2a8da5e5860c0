/** `plimsoll calibrate` on real workers, and clusters that run on the constants that it measured. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { readConfigured } from '../../src/cli/cluster/configuration.ts'
import { clusterOptionsFrom } from '../../src/cli/cluster/from-options.ts'
import { upOptions } from '../../src/cli/cluster/up-options.ts'
import { readConstants } from '../../src/systems/constants.ts'
import { measuredConstants } from '../../src/systems/presets.ts'
import { cli, type Live, patient, startLive, stopLive, until } from '../support/live.ts'

const run = promisify(execFile)

/** Calibrates, and starts a cluster of the preset on the file that was written. */
async function calibrated(
  t: TestContext,
  preset: 'tiered' | 'hillclimbing' | 'ecowork',
  { args = [], most }: { args?: string[]; most: number },
) {
  const at = mkdtempSync(join(tmpdir(), 'plimsoll-calibrate-test-'))
  t.after(() => rmSync(at, { recursive: true, force: true }))
  const file = join(at, 'measured.yaml')
  await run(process.execPath, [cli, 'calibrate', '--preset', preset, '--quick', '--out', file, ...args])
  const { values, config } = await readConfigured(
    ['--config', file, '--max', `${most}`],
    upOptions,
    assert.fail,
  )
  const constants = readConstants(values.constants!, preset, measuredConstants[preset])
  const { limits, ...options } = clusterOptionsFrom({ ...values, port: 0, adminPort: 0 }, () => {}, config)
  const live = await startLive({
    ...options,
    ...{ dataDir: join(at, 'data'), limits: { ...limits, ...patient } },
  })
  t.after(() => stopLive(live))
  return { live, constants, told: readFileSync(file, 'utf8') }
}

async function answered(live: Live, path: string, init?: RequestInit): Promise<Response> {
  const answer = await fetch(`${live.url}${path}`, init)
  await answer.arrayBuffer()
  assert.equal(answer.status, 200)
  return answer
}

async function workOf(live: Live, path: string): Promise<number> {
  const job = (await answered(live, path)).headers.get('plimsoll-job')
  await live.ledger.flush()
  const rows = await live.ledger.recent({ workload: path.slice(1, path.indexOf('?')), limit: 50 })
  return rows.find((row) => row.job === job)!.work
}

const isWithin = (part: number, a: number, b: number) => Math.abs(a / b - 1) <= part

test('TI-9 a real shop is measured, and the cluster starts with the nodes that the measured hour needs', async (t) => {
  // This peak needs more servers in every hour than the table of the preset says.
  const { live, constants, told } = await calibrated(t, 'tiered', { args: ['--peak', '100000'], most: 6 })
  const [, ms, count] = /one server took (\d+) ms for (\d+) requests/.exec(told)!
  const perSecond = (Number(count) / Number(ms)) * 1000
  assert.ok(isWithin(0.02, Number(constants.perServer), perSecond * 0.8), `${told}`)
  const hours = constants.hours as number[]
  assert.equal(hours.length, 24)
  assert.ok(isWithin(0.02, Math.max(...hours), 100_000 / perSecond), `${told}`)
  // A third of the hour's servers are fronts, twice a third are middles; as many as the maximum allows.
  // Nodes ask to leave when they are idle, so that only the launch counts.
  const first = () => live.state().steps.find(({ text }) => text.includes('servers are best at hour'))
  await until(first, 'the nodes of this hour are launched')
  const [, nodes, servers] = /^(\d+) workers launched: ([\d,]+) servers are best at hour/.exec(first()!.text)!
  assert.equal(Number(nodes), 6)
  assert.ok(hours.includes(Number(servers!.replaceAll(',', ''))))
  await answered(live, '/shop?action=browse&sort=price')
})

test('HC-13 real searches are measured, and the cluster estimates and limits by them', async (t) => {
  const { live, constants } = await calibrated(t, 'hillclimbing', { most: 1 })
  const { mostWork, progressEvery, unknown } = constants as Record<string, number>
  const search = (more: string) => `/hillclimb?output=json&${more}`
  const asked = await fetch(`${live.url}/-/estimate${search('width=128&height=128')}`)
  const quote = (await asked.json()) as { work: number }
  assert.equal(quote.work, unknown)
  // Routines are counted, so the work of a search is the same in every run.
  const corners = []
  for (const corner of ['xS=0&yS=0', 'xS=0&yS=1023', 'xS=1023&yS=0', 'xS=1023&yS=1023'])
    corners.push(await workOf(live, search(`width=1024&height=1024&strategy=BFS&${corner}`)))
  assert.ok(Math.max(...corners) <= mostWork! * 1.01)
  const nine = []
  for (const strategy of ['BFS', 'DFS', 'ASTAR'])
    for (const side of [256, 512, 1024])
      nine.push(await workOf(live, search(`width=${side}&height=${side}&strategy=${strategy}`)))
  assert.ok(isWithin(0.01, unknown!, nine.reduce((sum, work) => sum + work, 0) / 9))
  assert.ok(isWithin(0.01, mostWork!, Math.max(...corners, ...nine)))
  assert.ok(progressEvery! > unknown!, 'ten seconds are more than a search of a second')
})

test('EW-11 a real worker is measured, and the cluster holds its requests to the limits', async (t) => {
  const { live, constants, told } = await calibrated(t, 'ecowork', { most: 1 })
  const { mostJobs, mostWork } = constants as Record<string, number>
  const [, fitting, memoryMb] = /(\d+) of (\d+) MB fit into 1024 MB/.exec(told)!
  assert.ok(isWithin(0.1, Number(fitting), 1024 / Number(memoryMb)))
  assert.ok([1, 2, 5, 10, 20, Number(fitting)].includes(mostJobs!) && mostJobs! <= Number(fitting), told)
  const [, units, ms] = /work of 10 s of CPU: (\d+) units in (\d+) ms/.exec(told)!
  assert.ok(isWithin(0.01, mostWork!, (Number(units) / Number(ms)) * 10_000))
  // Foxes and rabbits are linear in generations, so the limit is a number of generations.
  const work = await workOf(live, '/foxes-rabbits?world=2&scenario=2&generations=200')
  assert.ok(work > 0 && work < mostWork!)
})
