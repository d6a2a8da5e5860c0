import assert from 'node:assert/strict'
import test from 'node:test'
import { incompatibility } from '../wire/admission.ts'
import type { FrontHello } from '../wire/front-messages.ts'
import { type WorkerHello, wireVersion } from '../wire/messages.ts'
import { decideJoin, type Known, refusalLog } from './join.ts'

const worker: WorkerHello = {
  type: 'hello',
  version: wireVersion,
  worker: { id: 'w1', cores: 1, workPerSecond: 1, memoryMb: 1, slots: 1 },
  pid: 1,
  address: { host: '127.0.0.1', port: 1 },
  code: { echo: 'a' },
  seq: 0,
  held: [],
}
const front: FrontHello = {
  ...{ type: 'front', version: wireVersion, id: 'f1', pid: 1, instance: 'x', code: { echo: 'a' } },
  received: 0,
}
const cluster: Known = {
  refusal: (hello, who) => incompatibility(hello, { echo: 'a' }, who),
  isSpare: (launch) => launch === 'spare',
  front: () => undefined,
}
const knowing = (session: string, isConnected: boolean): Known => ({
  ...cluster,
  front: () => ({ hello: front, session, isConnected }),
})

test('a worker of the same version and code joins; a spare one waits for a launch', () => {
  assert.deepEqual(decideJoin(worker, cluster), { join: 'new' })
  assert.deepEqual(decideJoin({ ...worker, launch: '1' }, cluster), { join: 'new' })
  assert.deepEqual(decideJoin({ ...worker, launch: 'spare' }, cluster), { join: 'spare' })
})

test('another protocol version or other code is refused, for spare workers and reconnecting fronts too', () => {
  for (const hello of [worker, { ...worker, launch: 'spare' }, front, { ...front, session: 's' }]) {
    for (const wrong of [{ version: wireVersion + 1 }, { code: { echo: 'b' } }, { code: {} }]) {
      assert.equal(decideJoin({ ...hello, ...wrong }, knowing('s', true)).join, 'refused')
    }
  }
})

test('a workload that the cluster lacks is refused in a front and ignored in a worker', () => {
  const code = { echo: 'a', more: 'b' }
  assert.deepEqual(decideJoin({ ...worker, code }, cluster), { join: 'new' })
  assert.equal(decideJoin({ ...front, code }, cluster).join, 'refused')
})

test('a front that names its session continues it, connected or not', () => {
  for (const isConnected of [true, false]) {
    assert.deepEqual(decideJoin({ ...front, session: 's' }, knowing('s', isConnected)), { join: 'resumed' })
  }
})

test('the id of a connected front is free only for the same process', () => {
  assert.deepEqual(decideJoin(front, knowing('s', true)), { join: 'new' })
  assert.deepEqual(decideJoin({ ...front, instance: 'y' }, knowing('s', false)), { join: 'new' })
  const taken = decideJoin({ ...front, instance: 'y', session: 'other' }, knowing('s', true))
  assert.deepEqual(taken, { join: 'refused', why: 'a front f1 is here already' })
})

test('refused connections are logged, at most once in ten seconds, with the number of those between', () => {
  const lines: string[] = []
  let at = 0
  const refused = refusalLog(
    (line) => lines.push(line),
    () => at,
  )
  for (at = 0; at < 10_000; at += 1000) refused('10.0.0.9', 'the token is wrong')
  refused('10.0.0.8', 'it does not use TLS')
  assert.deepEqual(lines, [
    'join: a connection from 10.0.0.9 was refused: the token is wrong',
    'join: a connection from 10.0.0.8 was refused: it does not use TLS; 9 more since the last message',
  ])
})
