import assert from 'node:assert/strict'
import test from 'node:test'
import { refusalLog } from '../lib/refusal-log.ts'
import { incompatibility } from '../wire/admission.ts'
import type { FrontHello } from '../wire/front-messages.ts'
import { type WorkerHello, wireVersion } from '../wire/messages.ts'
import { decideJoin, type Known } from './join.ts'

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
  worker: () => undefined,
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
    'join',
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

const joinedAs = (known: { pid?: number; instance?: string; isConnected?: boolean }): Known => ({
  ...cluster,
  worker: (id) =>
    id === 'w1'
      ? { pid: 1, instance: 'x', isConnected: true, address: { host: '10.0.0.1', port: 4000 }, ...known }
      : undefined,
})

test('the id of a connected worker is free only for the same process', () => {
  const hello = { ...worker, instance: 'x' }
  assert.deepEqual(decideJoin(hello, joinedAs({})), { join: 'new' })
  for (const other of [{ instance: 'y' }, { pid: 2 }]) {
    const why = 'a worker with the id w1 is connected already (process 1, 10.0.0.1:4000): choose another --id'
    assert.deepEqual(decideJoin({ ...hello, ...other }, joinedAs({})), { join: 'refused', why })
    assert.deepEqual(decideJoin({ ...hello, ...other }, joinedAs({ isConnected: false })), { join: 'new' })
  }
})

test('an id must be short and of plain characters, for workers and fronts', () => {
  const odd = ['', 'a b', 'a/b', 'ä', '../x', 'a\nb', 'x'.repeat(65), 7, null, undefined, {}]
  for (const id of odd as string[]) {
    for (const hello of [
      { ...worker, worker: { ...worker.worker, id } },
      { ...front, id },
    ]) {
      const decision = decideJoin(hello, cluster)
      assert.ok(decision.join === 'refused')
      assert.match(
        decision.why,
        /^its id is .*: must be 1 to 64 characters out of A-Z, a-z, 0-9, "\.", "_" and "-"$/,
      )
    }
  }
  for (const id of ['w1', 'host.example_1-42', 'x'.repeat(64)])
    assert.deepEqual(decideJoin({ ...worker, worker: { ...worker.worker, id } }, cluster), { join: 'new' })
})
