import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runProcesses } from './world.ts'

/** `npm run check:processes` runs thousands. */
const seeds = 40

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
  assert.ok(requests > 1000 && faults > 50, `${requests} requests and ${faults} faults were drawn`)
  assert.ok(shed > 20, `${shed} requests were shed`)
})

test('a seed gives the same run every time', async () => {
  assert.deepEqual(await runProcesses(7), await runProcesses(7))
})
