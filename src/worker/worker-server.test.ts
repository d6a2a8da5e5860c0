/** Workers of an existing server, as a brain sees them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { checkServer } from '../config/check-server.ts'
import { serverCode } from '../config/code.ts'
import { acceptJoining, type FrontConnection, type WorkerConnection } from '../wire/accept.ts'
import { JoinAddresses } from '../wire/join-addresses.ts'
import type { FromWorker } from '../wire/messages.ts'
import { newTokens } from '../wire/token.ts'
import { oneLiner, serverCommand } from './program/testing/use-programs.ts'
import { runWorker } from './worker.ts'

/** Starts a worker, and a brain that only receives the worker's first message. */
async function join(t: TestContext, given: object) {
  const brain = createServer().listen(0, '127.0.0.1')
  await once(brain, 'listening')
  const joined = Promise.withResolvers<{ hello: FromWorker; connection: WorkerConnection }>()
  const tokens = newTokens()
  const handlers = {
    worker: (connection: WorkerConnection, hello: FromWorker) => joined.resolve({ hello, connection }),
    front: (connection: FrontConnection) => connection.close(),
  }
  acceptJoining(brain, { tokens, handlers })
  const stop = new AbortController()
  const lines: string[] = []
  const server = checkServer(given, import.meta.dirname)
  const worker = runWorker(
    {
      ...{
        id: 'w',
        join: new JoinAddresses([new URL(`http://127.0.0.1:${(brain.address() as AddressInfo).port}`)]),
        token: tokens.worker,
      },
      ...{
        cores: 2,
        slots: 5,
        memoryMb: 1024,
        jobMemoryMb: 512,
        niceness: 0,
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
  return { joined: joined.promise, worker, stop, server, lines }
}

test('a worker joins when its program is healthy, with cores for all jobs that its programs run', async (t) => {
  const { joined, worker, server } = await join(t, { command: serverCommand, concurrency: 4 })
  const { hello, connection } = await joined
  assert.ok(hello.type === 'hello')
  const { cores, slots, workPerSecond } = hello.worker
  assert.deepEqual({ cores, slots, workPerSecond }, { cores: 8, slots: 8, workPerSecond: 1e6 })
  assert.deepEqual(hello.code, serverCode(server))
  connection.send({ type: 'end' })
  await worker
})

test('a worker whose program fails joins after the start timeout', async (t) => {
  const { joined, lines } = await join(t, { command: ['/bin/sh', '-c', 'exit 7', '{port}'], startMs: 200 })
  const { hello } = await joined
  assert.ok(hello.type === 'hello')
  assert.equal(hello.worker.cores, 2)
  assert.ok(
    lines.every((line) => /^slot [12]: .*; next try in |^withheld environment /.test(line)),
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
