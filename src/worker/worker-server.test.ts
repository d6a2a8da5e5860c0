/** Workers of the user's own server, as a brain sees them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { checkServer } from '../config/check-server.ts'
import { serverCode } from '../config/code.ts'
import { acceptJoining, type WorkerConnection } from '../wire/accept.ts'
import type { FromWorker } from '../wire/messages.ts'
import { oneLiner, serverCommand } from './program/fixtures/use-programs.ts'
import { runWorker } from './worker.ts'

/** A brain that only listens: what a worker says first. */
async function join(t: TestContext, given: object) {
  const brain = createServer().listen(0, '127.0.0.1')
  await once(brain, 'listening')
  const said = Promise.withResolvers<{ hello: FromWorker; connection: WorkerConnection }>()
  acceptJoining(brain, 'secret', {
    worker: (connection, hello) => said.resolve({ hello, connection }),
    front: (connection) => connection.close(),
  })
  const stop = new AbortController()
  const lines: string[] = []
  const server = checkServer(given, import.meta.dirname)
  const worker = runWorker(
    {
      ...{
        id: 'w',
        join: new URL(`http://127.0.0.1:${(brain.address() as AddressInfo).port}`),
        token: 'secret',
      },
      ...{
        cores: 2,
        slots: 5,
        memoryMb: 1024,
        jobMemoryMb: 512,
        meter: 'off',
        dataDir: '',
        host: '127.0.0.1',
      },
      ...{ reconnectMs: 0, leaveMs: 0, log: (line: string) => lines.push(line), server },
    },
    stop.signal,
  )
  t.after(async () => {
    stop.abort()
    await worker
    brain.closeAllConnections()
    brain.close()
  })
  return { said: said.promise, worker, stop, server, lines }
}

test('a worker joins when its program is healthy, with cores for all jobs that its programs take', async (t) => {
  const { said, worker, server } = await join(t, { command: serverCommand, concurrency: 4 })
  const { hello, connection } = await said
  assert.ok(hello.type === 'hello')
  const { cores, slots, workPerSecond } = hello.worker
  assert.deepEqual({ cores, slots, workPerSecond }, { cores: 8, slots: 8, workPerSecond: 1e6 })
  assert.deepEqual(hello.code, serverCode(server))
  connection.send({ type: 'end' })
  await worker
})

test('a worker whose program is broken joins all the same when the time to start is over', async (t) => {
  const { said, lines } = await join(t, { command: ['/bin/sh', '-c', 'exit 7', '{port}'], startMs: 200 })
  const { hello } = await said
  assert.ok(hello.type === 'hello')
  assert.equal(hello.worker.cores, 2)
  assert.ok(
    lines.every((line) => /^slot [12]: .*; next try in /.test(line)),
    lines.join(),
  )
})

test('a worker can be ended while its program starts', async (t) => {
  const { worker, stop, lines } = await join(t, {
    command: [...oneLiner(`console.log('slow'); setInterval(() => {}, 1e6)`), '{port}'],
  })
  stop.abort()
  await worker
  assert.ok(lines.every((line) => line.endsWith('slow')))
})
