import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { runProcesses, runSeed } from './run-seed.ts'

/** `npm run check:processes` runs thousands. */
const seeds = 100

test('brain, fronts and workers keep their promises when processes pause and die and connections break', async () => {
  let requests = 0
  let faults = 0
  let shed = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const counts = await runProcesses(seed)
    requests += counts.requests
    shed += counts.shed
    faults += counts.brainKills + counts.brainPauses + counts.workerKills + counts.frontKills + counts.resets
  }
  assert.ok(requests > 900 && faults > 50, `${requests} requests and ${faults} faults were drawn`)
  assert.ok(shed > 20, `${shed} requests were shed`)
})

test('a seed gives the same run every time, and in every process', async () => {
  const first = await runProcesses(3)
  assert.deepEqual(await runProcesses(3), first)
  const args = [join(import.meta.dirname, 'main.ts'), '--from', '3', '--seeds', '1']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  assert.deepEqual(JSON.parse(stdout), { seeds: 1, ...first, failed: 0 })
})

test('requests and faults of a seed can be left out, and what happens is logged', async () => {
  const lines: string[] = []
  const { counts, planned } = await runSeed(3, { lines })
  assert.equal(lines.filter((line) => / is sent: /.test(line)).length, counts.requests)
  assert.ok(planned >= counts.requests && counts.requests > 0)
  const all = new Set(Array.from({ length: planned }, (_, number) => number))
  assert.equal((await runSeed(3, { leftOut: all })).counts.requests, 0)
  all.delete(0)
  assert.equal((await runSeed(3, { leftOut: all })).counts.requests, 1)
})
