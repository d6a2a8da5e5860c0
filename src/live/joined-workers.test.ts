import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Event } from '../model/event.ts'
import type { WorkerConnection } from '../wire/accept.ts'
import { type FromBrain, type FromWorker, type WorkerHello, wireVersion } from '../wire/messages.ts'
import { JoinedWorkers } from './joined-workers.ts'

const hello: WorkerHello = {
  ...{ type: 'hello', version: wireVersion, pid: 1, address: { host: '127.0.0.1', port: 9 } },
  ...{ worker: { id: 'w1', cores: 1, slots: 1, memoryMb: 1, workPerSecond: 1 }, code: {}, seq: 1, held: [] },
}

interface Watched {
  workers: JoinedWorkers
  problems: Map<string, string>
  /** What the brain and the fronts were told, in order. */
  told: Event[]
  fronts: object[]
  /** The problem of each worker that changed. */
  changes: (string | undefined)[]
}

function watched(t: TestContext): Watched {
  const problems = new Map<string, string>()
  const [told, fronts, changes]: [Event[], object[], Watched['changes']] = [[], [], []]
  const workers = new JoinedWorkers({
    welcome: () => ({ type: 'welcome', epoch: 1, beatMs: 1, discipline: 'srpt', following: {} }),
    beatMs: 5,
    ...{
      attemptToken: 'secret',
      metrics: undefined,
      fleet: { joined() {}, terminate() {} },
      problems,
      pingMs: 10_000,
    },
    tell: (event) => told.push(event),
    onChange: (worker) => changes.push(problems.get(worker)),
    programs() {},
    tellFronts: (message) => fronts.push(message),
  })
  t.after(() => workers.close())
  return { workers, problems, told, fronts, changes }
}

/** A connection that notes what is sent. */
function connection(): WorkerConnection & { sent: FromBrain[] } {
  const sent: FromBrain[] = []
  return { sent, send: (message) => sent.push(message), close() {}, cut() {}, onMessage() {}, onClose() {} }
}

test('the problem of a worker is known until a report comes without it', (t) => {
  const { workers, problems, told, changes } = watched(t)
  const line = connection()
  workers.add(line, { ...hello, problem: 'no program is healthy' })
  const report = (problem?: string) => {
    const message: FromWorker = { type: 'report', seq: 2, held: [], ...(problem && { problem }) }
    line.onMessage(message)
  }
  report('no program is healthy; slot 1: exited')
  report()
  report()
  report('no program is healthy')
  assert.deepEqual(changes, ['no program is healthy', undefined, 'no program is healthy'])
  assert.ok(
    told.every((event) => !('problem' in event)),
    'the brain is not told',
  )
  workers.dismiss('w1', 0, { code: 'drained' })
  assert.equal(problems.size, 0)
})

test('a worker that starts again under its id replaces the old address at once', (t) => {
  const { workers, told, fronts } = watched(t)
  const first = connection()
  workers.add(first, { ...hello, instance: 'x', seq: 7 })
  first.onClose()
  const address = { host: '127.0.0.1', port: 10 }
  workers.add(connection(), { ...hello, pid: 2, instance: 'y', address })
  assert.deepEqual(workers.upstreamOf('w1')?.address, address)
  assert.equal(workers.pidOf('w1'), 2)
  assert.deepEqual(
    told.map((event) => [event.type, 'certain' in event]),
    [
      ['joined', false],
      ['disconnected', false],
      ['lost', true],
      ['joined', false],
    ],
  )
  assert.deepEqual(fronts, [
    { type: 'worker', id: 'w1', address: hello.address },
    { type: 'worker-gone', id: 'w1' },
    { type: 'worker', id: 'w1', address },
  ])
})

test('a worker that reconnects keeps its address and is not lost', (t) => {
  const { workers, told, fronts } = watched(t)
  const [first, second] = [connection(), connection()]
  workers.add(first, { ...hello, instance: 'x' })
  const upstream = workers.upstreamOf('w1')
  // The brain has not noticed yet that the first connection broke.
  workers.add(second, { ...hello, instance: 'x', seq: 2 })
  first.onClose()
  assert.equal(workers.upstreamOf('w1'), upstream)
  assert.equal(workers.known('w1')?.isConnected, true)
  assert.deepEqual(
    told.map(({ type }) => type),
    ['joined', 'joined'],
  )
  assert.equal(fronts.length, 1)
})

test('a worker is told why it ends, and whether it was given up', (t) => {
  const { workers } = watched(t)
  const [drained, lost] = [connection(), connection()]
  workers.add(drained, hello)
  workers.add(lost, { ...hello, worker: { ...hello.worker, id: 'w2' } })
  workers.dismiss('w1', 0, { code: 'drained' })
  workers.dismiss('w2', 0, { code: 'silent', silentMs: 3000 })
  assert.deepEqual(drained.sent.at(-1), { type: 'end', message: 'it has drained' })
  assert.deepEqual(lost.sent.at(-1), { type: 'end', message: 'it sent no heartbeat for 3 s', lost: true })
})

test('workers that follow the leader are sent away when the cluster ceases to lead, and stay alive', (t) => {
  const { workers, told } = watched(t)
  const [follower, own] = [connection(), connection()]
  workers.add(follower, { ...hello, follows: 1 })
  workers.add(own, { ...hello, worker: { ...hello.worker, id: 'own' } })
  workers.sendAway('another cluster leads')
  assert.deepEqual(
    follower.sent.map(({ type }) => type),
    ['welcome', 'not-leader'],
  )
  assert.deepEqual(
    own.sent.map(({ type }) => type),
    ['welcome'],
  )
  const [lost] = told.filter(({ type }) => type === 'lost')
  assert.deepEqual(lost, {
    ...{ type: 'lost', worker: hello.worker.id, message: 'another cluster leads', certain: true },
  })
  workers.end()
  assert.equal(own.sent.at(-1)?.type, 'end')
})
