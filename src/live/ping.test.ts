import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createRawServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { disciplines } from '../model/discipline.ts'
import { newToken } from '../wire/token.ts'
import { attemptPort } from '../worker/attempts/attempt-port.ts'
import { attemptServer } from '../worker/attempts/attempt-server.ts'
import { Supervisor } from '../worker/supervisor.ts'
import { ping } from './ping.ts'

const token = newToken()
const noJobs = { size: 0, ready: async () => {}, close: async () => {}, start: () => assert.fail('a job') }

function workerServer(): Server {
  const supervisor = new Supervisor(
    { pool: noJobs, meter: 'off', cores: 1, slots: 1, send: () => {} },
    disciplines.srpt,
  )
  // The brain has not welcomed it yet.
  return attemptServer(supervisor, token, new Promise(() => {}))
}

async function portOf(t: TestContext, server: Server | ReturnType<typeof createRawServer>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** Whether the answer comes; false after `limitMs`. */
function asked(address: Parameters<typeof ping>[0], limitMs: number, secret = token): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs + 200)
    const answered = () => {
      clearTimeout(timer)
      resolve(true)
    }
    ping(address, { token: secret, limitMs, answered })
  })
}

test('CP-17 each worker answers GET /health, without a token, and nothing else without one', async (t) => {
  const port = await portOf(t, workerServer())
  const health = await fetch(`http://127.0.0.1:${port}/health`)
  assert.deepEqual([health.status, await health.text()], [200, 'ok\n'])
  for (const [method, path] of [
    ['POST', '/health'],
    ['GET', '/health/x'],
    ['GET', '/attempt'],
  ] as const)
    assert.equal((await fetch(`http://127.0.0.1:${port}${path}`, { method })).status, 401)
})

test('CP-17 a ping asks a worker for its health, between machines over TLS', async (t) => {
  assert.equal(await asked({ host: '127.0.0.1', port: await portOf(t, workerServer()) }, 60_000), true)
  const remote = attemptPort(workerServer(), '127.0.0.2', token, true)
  await remote.open()
  t.after(() => remote.close())
  assert.equal(await asked(remote.address(), 60_000), true)
  assert.equal(await asked(remote.address(), 300, newToken()), false)
})

test('a worker that rejects connections, hangs, breaks off or fails does not answer a ping', async (t) => {
  const closed = createRawServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port: free } = closed.address() as AddressInfo
  closed.close()
  const hangs = await portOf(
    t,
    createRawServer((socket) => void t.after(() => socket.destroy())),
  )
  const breaks = await portOf(
    t,
    createRawServer((socket) => void socket.destroy()),
  )
  const fails = await portOf(
    t,
    createServer((_, response) => void response.writeHead(503).end()),
  )
  for (const port of [free, hangs, breaks, fails])
    assert.equal(await asked({ host: '127.0.0.1', port }, 300), false, `${port}`)
})
