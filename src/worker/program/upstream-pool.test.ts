/** Upstreams: servers that the worker does not start or end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { until } from '../slots/testing/use-pool.ts'
import type { UpstreamSettings } from './settings.ts'
import { jobOf, read, serverDefaults } from './testing/use-programs.ts'
import { UpstreamPool } from './upstream-pool.ts'

/** An address of this process alone: between two uses of a port nobody else takes it. */
const host = `127.${(process.pid >> 14) & 127}.${(process.pid >> 7) & 127}.${2 + (process.pid & 127)}`

async function serve(t: TestContext, listener: RequestListener, port = 0): Promise<Server> {
  const server = createServer(listener).listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

function usePool(t: TestContext, port: number, settings: Partial<UpstreamSettings> = {}) {
  const lines: string[] = []
  const upstream = `http://${host}:${port}`
  const pool = new UpstreamPool({
    server: { ...serverDefaults, upstream, ...settings },
    log: (line) => lines.push(line),
  })
  t.after(() => pool.close())
  return { pool, lines, upstream }
}

test('an upstream receives several jobs at a time, and their time is measured', async (t) => {
  const server = await serve(t, (request, response) => response.end(request.url))
  const { pool } = usePool(t, portOf(server))
  await pool.ready()
  const runs = ['/a', '/b'].map((target) => pool.start(jobOf(target)))
  for (const [i, run] of runs.entries()) {
    assert.equal((await read(run)).body, i === 0 ? '/a' : '/b')
    const { measure, work, cpuMs, peakMemoryMb } = await run.ended
    assert.deepEqual([measure, work, peakMemoryMb], ['time', cpuMs * 1000, 0])
    assert.equal(run.interruptible, false)
  }
  assert.equal(pool.size, 0)
})

test('cancelling a job closes its connection, but not the upstream', async (t) => {
  const closed = Promise.withResolvers<void>()
  const server = await serve(t, (request, response) => {
    if (request.url !== '/hang') return response.end('fine')
    request.socket.on('close', () => closed.resolve())
    response.write('begun')
  })
  const { pool } = usePool(t, portOf(server))
  const run = pool.start(jobOf('/hang'))
  await run.answer
  run.cancel()
  await Promise.all([closed.promise, run.ended])
  assert.equal((await read(pool.start(jobOf('/')))).body, 'fine')
})

test('an unreachable upstream is reported once, and its jobs fail with a message after a wait', async (t) => {
  const gone = await serve(t, () => {})
  const port = portOf(gone)
  gone.close()
  await once(gone, 'close')
  const { pool, lines, upstream } = usePool(t, port, { startMs: 300 })
  await pool.ready()
  const { kind, message } = await read(pool.start(jobOf('/')))
  assert.equal(kind, 'unready')
  assert.equal(
    message,
    `waited 300 ms for a program: upstream ${upstream} is not healthy: nothing listens on ${upstream}`,
  )
  assert.deepEqual(lines, [`upstream ${upstream}: not healthy: nothing listens on ${upstream}`])
})

test('waiting jobs are sent when the upstream is healthy again', async (t) => {
  const first = await serve(t, (_, response) => response.end('first'))
  const port = portOf(first)
  const { pool, lines, upstream } = usePool(t, port)
  assert.equal((await read(pool.start(jobOf('/')))).body, 'first')
  first.close()
  first.closeAllConnections()
  await once(first, 'close')
  const waits = pool.start(jobOf('/'))
  await until(() => lines.length === 2, 'it is known to be unreachable')
  await serve(t, (_, response) => response.end('second'), port)
  assert.equal((await read(waits)).body, 'second')
  assert.deepEqual(lines, [
    `upstream ${upstream}: healthy`,
    `upstream ${upstream}: not healthy: nothing listens on ${upstream}`,
    `upstream ${upstream}: healthy`,
  ])
})

test('an upstream that fails three health checks receives no jobs until it passes one', async (t) => {
  let healthy = true
  const server = await serve(t, (request, response) =>
    response.writeHead(request.url === '/up' && !healthy ? 500 : 200).end('answer'),
  )
  const { pool, lines, upstream } = usePool(t, portOf(server), { health: '/up', healthEveryMs: 10 })
  await pool.ready()
  healthy = false
  await until(
    () => lines.includes(`upstream ${upstream}: not healthy: GET /up answered 500`),
    'it is unhealthy',
  )
  const run = pool.start(jobOf('/'))
  healthy = true
  assert.equal((await read(run)).body, 'answer')
  await run.ended
})
