import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkerConnection } from '../wire/accept.ts'
import { type FromWorker, type WorkerHello, wireVersion } from '../wire/messages.ts'
import { JoinedWorkers } from './joined-workers.ts'

const hello: WorkerHello = {
  ...{ type: 'hello', version: wireVersion, pid: 1, address: { host: '127.0.0.1', port: 9 } },
  ...{ worker: { id: 'w1', cores: 1, slots: 1, memoryMb: 1, workPerSecond: 1 }, code: {}, seq: 1, held: [] },
}

test('the problem of a worker is known until a report comes without it', (t) => {
  const problems = new Map<string, string>()
  const changes: (string | undefined)[] = []
  const told: object[] = []
  const workers = new JoinedWorkers({
    welcome: { type: 'welcome', epoch: 1, beatMs: 1, discipline: 'srpt', following: {} },
    ...{ attemptToken: 'secret', metrics: undefined, fleet: { joined() {}, terminate() {} }, problems },
    tell: (event) => told.push(event),
    onChange: (worker) => changes.push(problems.get(worker)),
    tellFronts() {},
  })
  t.after(() => workers.close())
  const connection: WorkerConnection = { send() {}, close() {}, cut() {}, onMessage() {}, onClose() {} }
  workers.add(connection, { ...hello, problem: 'no program is healthy' })
  const report = (problem?: string) => {
    const message: FromWorker = { type: 'report', seq: 2, held: [], ...(problem && { problem }) }
    connection.onMessage(message)
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
  workers.dismiss('w1', 0)
  assert.equal(problems.size, 0)
})
