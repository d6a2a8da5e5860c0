import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { RequestProblem } from '../../front/problem.ts'
import { type Leave, leaveClients } from './leaving.ts'
import { PendingRequests } from './pending-requests.ts'

const idle = { timeout: 30_000 }

interface Answer {
  status: number | undefined
  connection: string | undefined
}

/** A server that leaves, and a client with one connection to it. */
async function leavingServer(t: TestContext, listener: (response: ServerResponse) => void) {
  const server = createServer((_, response) => listener(response))
  server.keepAliveTimeout = 60_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => {
    agent.destroy()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const ask = async (): Promise<Answer> => {
    const [response] = (await once(get({ port, agent }), 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    return { status: response.statusCode, connection: response.headers.connection }
  }
  const pending = new PendingRequests({} as ConstructorParameters<typeof PendingRequests>[0])
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  let checks = 0
  const checked = async (more: number) => {
    for (const until = checks + more; checks < until; ) await new Promise((resolve) => setImmediate(resolve))
  }
  const state = { until: Infinity, hurry: false }
  const leave: Leave = {
    until: () => {
      checks++
      return state.until
    },
    hurry: () => state.hurry,
    problem: new RequestProblem(503, 'stopping', 'The cluster is stopping.'),
  }
  return {
    ...{ ask, checked, state },
    leave: () => leaveClients([server], pending, leave),
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('an idle connection serves one more request after half a minute', idle, async (t) => {
  const { ask, checked, leave, pass } = await leavingServer(t, (response) => response.end('ok'))
  assert.deepEqual(await ask(), { status: 200, connection: 'keep-alive' })
  const left = leave()
  pass(30_000)
  await checked(2)
  assert.deepEqual(await ask(), { status: 200, connection: 'close' })
  await left
})

test('the connection of a request that began before and ends late serves one more', idle, async (t) => {
  const begun = Promise.withResolvers<ServerResponse>()
  let count = 0
  const { ask, checked, leave, pass } = await leavingServer(t, (response) => {
    if (count++ > 0) response.end('ok')
    else begun.resolve(response)
  })
  const first = ask()
  const response = await begun.promise
  response.writeHead(200, { 'content-length': 2 }).flushHeaders()
  const left = leave()
  pass(30_000)
  await checked(2)
  response.end('ok')
  assert.deepEqual(await first, { status: 200, connection: 'keep-alive' })
  await checked(2)
  assert.deepEqual(await ask(), { status: 200, connection: 'close' })
  await left
})

test('idle connections are closed in a hurry, and after the limit', idle, async (t) => {
  for (const change of [{ hurry: true }, { until: 0 }]) {
    const { ask, checked, leave, state } = await leavingServer(t, (response) => response.end('ok'))
    await ask()
    const left = leave()
    await checked(2)
    Object.assign(state, change)
    await left
    t.mock.restoreAll()
  }
})
