import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './support/live.ts'
import { ownOf } from './support/own-programs.ts'

test('a cluster whose programs are all unhealthy is not ready, and says why', async (t) => {
  const command = [process.execPath, '-e', 'setInterval(() => {}, 1e6)', '{port}']
  const live = await ownOf(t, { workers: { command, startMs: 100 } }, {}, false)
  let isReady = false
  void live.ready.then(() => (isReady = true))
  await until(() => live.state().workers[0]?.problem, 'a worker without a healthy program has joined')
  assert.match(live.state().workers[0]!.problem!, /^no program is healthy; slot 1: /)
  assert.equal((await fetch(`${live.url}/-/ready`)).status, 503)
  assert.equal(isReady, false)
})
