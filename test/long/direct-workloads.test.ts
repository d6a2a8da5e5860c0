/** The direct path to workloads, live: small requests go from the front straight to a worker. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { ask, askDirectly, comparable, general, patient } from '../support/direct.ts'
import { until } from '../support/live.ts'
import { isAlive } from '../support/processes.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { startUp, untilState } from '../support/up.ts'

test('small requests to a workload are answered directly, and as on the general path', async (t) => {
  const up = await startUp(t, ...patient)
  await askDirectly(up, '/strict?n=21')
  assert.deepEqual((await up.state()).direct.names, ['strict'])
  for (const path of [
    '/strict?n=21',
    '/strict?n=0',
    '/strict?n=nothing',
    '/strict',
    '/strict?n=1&n=2',
    '/nowhere',
  ]) {
    for (const method of ['GET', 'HEAD']) {
      const direct = await ask(up, path, '', method)
      const other = await ask(up, path, general, method)
      assert.deepEqual(comparable(direct), comparable(other), `${method} ${path}`)
      assert.equal(other.isDirect, false)
    }
  }
  for (const line of ['plimsoll-deadline: 60000\r\n', 'plimsoll-announce: job\r\n', 'content-length: 0\r\n'])
    assert.equal((await ask(up, '/strict?n=21', line)).isDirect, false, line)
  await untilState(up, ({ direct }) => direct.answered > 0, 'direct requests are counted')
})

test('no request fails while workers are killed and replaced', { timeout: 300_000 }, async (t) => {
  const up = await startUp(t, ...patient)
  await askDirectly(up, '/strict?n=21')
  const load = steadyLoad(`${up.url}/strict?n=21`, 3, '42')
  for (let i = 0; i < 3; i++) {
    const { workers } = await up.state()
    const pid = workers[0]?.pid
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    await until(() => pid === undefined || !isAlive(pid), 'it is dead')
    const before = load.answered
    await until(() => load.answered > before + 20, 'requests are answered')
    await untilState(up, ({ ready }) => ready > 0, 'there is a worker')
  }
  await askDirectly(up, '/strict?n=21')
  await load.stop()
  assert.deepEqual(load.errors, [])
})
