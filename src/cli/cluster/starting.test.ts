import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterState } from '../../live/cluster-options.ts'
import { tellWaiting, waitingText } from './starting.ts'

const nothing = { booting: [], workers: [], launchTroubles: [] }
const worker = (id: string, problem?: string) =>
  ({ id, ...(problem && { problem }) }) as ClusterState['workers'][number]

test('says which worker has not joined, why the last launch failed, and why a worker is of no use', () => {
  assert.match(
    waitingText({ ...nothing, booting: ['17-1'] }),
    /^Waiting for worker w1, which has been launched/,
  )
  assert.match(
    waitingText({ ...nothing, booting: ['17-1', '17-2'] }),
    /^Waiting for workers w1, w2, which have/,
  )
  assert.match(
    waitingText({ ...nothing, booting: ['17-1'] }, true),
    /not joined yet: no program of the server is/,
  )
  assert.match(
    waitingText({ ...nothing, launchTroubles: ['17-1: exited with code 1'] }),
    /none is being launched now\. The last failed launch: 17-1: exited with code 1\.$/,
  )
  assert.equal(
    waitingText({ ...nothing, workers: [worker('w1', 'no program is healthy; slot 1: exited')] }),
    'Not ready: worker w1 has joined, but no program is healthy; slot 1: exited.',
  )
})

test('says it after three seconds, and again only when it changes', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let state = { ...nothing, booting: ['17-1'] }
  const lines: string[] = []
  const end = tellWaiting(
    { state: () => state as unknown as ClusterState },
    { hasServer: false, log: (line) => lines.push(line) },
  )
  t.mock.timers.tick(2999)
  assert.equal(lines.length, 0)
  t.mock.timers.tick(1)
  t.mock.timers.tick(10_000)
  assert.equal(lines.length, 1)
  state = { ...nothing, booting: ['17-2'] }
  t.mock.timers.tick(500)
  assert.match(lines[1]!, /w2/)
  end()
  state = nothing
  t.mock.timers.tick(10_000)
  assert.equal(lines.length, 2)
})
