/** Connections to programs and upstreams are reused where that cannot be noticed. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import test, { type TestContext } from 'node:test'
import {
  hasPython,
  jobOf,
  type RequestParts,
  read,
  serverDefaults,
  usePrograms,
} from './testing/use-programs.ts'
import { UpstreamPool } from './upstream-pool.ts'

const answer = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** `requested` receives each request with the number of its connection and its number on this connection. */
async function useUpstream(
  t: TestContext,
  requested: (socket: Socket, connection: number, request: number) => void,
) {
  let connections = 0
  const server = createServer((socket) => {
    let connection = 0
    let requests = 0
    socket
      .on('error', () => {})
      .on('data', () => {
        // Health checks connect, but send nothing.
        connection ||= ++connections
        requested(socket, connection, ++requests)
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const pool = new UpstreamPool({ server: { ...serverDefaults, upstream }, log: () => {} })
  t.after(async () => {
    await pool.close()
    server.close()
  })
  await pool.ready()
  return async (request: RequestParts = {}) => {
    const run = pool.start(jobOf('/', request))
    const { kind, body } = await read(run)
    await run.ended
    return [kind, body]
  }
}

test('requests that may be repeated share a connection', async (t) => {
  const ask = await useUpstream(t, (socket, ...numbers) => socket.write(answer(numbers.join('-'))))
  assert.deepEqual(await ask(), ['http', '1-1'])
  assert.deepEqual(await ask(), ['http', '1-2'])
  assert.deepEqual(await ask({ repeatable: false }), ['http', '2-1'])
  const body = Readable.from([Buffer.from('x')])
  assert.deepEqual(await ask({ method: 'PUT', headers: ['Content-Length', '1'], body }), ['http', '3-1'])
  assert.deepEqual(await ask(), ['http', '1-3'])
})

test('a request on a connection that the upstream has just closed is sent again', async (t) => {
  const ask = await useUpstream(t, (socket, connection, request) => {
    if (connection === 1 && request === 2) socket.destroy()
    else socket.write(answer(`${connection}`))
  })
  assert.deepEqual(await ask(), ['http', '1'])
  assert.deepEqual(await ask(), ['http', '2'])
})

test('a request whose new connection is closed is not sent again', async (t) => {
  let requests = 0
  const ask = await useUpstream(t, (socket) => {
    requests++
    socket.destroy()
  })
  const [kind] = await ask()
  assert.deepEqual([kind, requests], ['crash', 1])
})

/** Serves one connection until it is closed, and then the next. */
const oneAtATime = `
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = str(self.client_address[1]).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args): pass
HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
`

const skip = !hasPython && 'needs python3'
test('a program that serves one connection at a time gets all requests and health checks', {
  skip,
}, async (t) => {
  const settings = { command: ['python3', '-c', oneAtATime], health: '/', healthEveryMs: 20 }
  const { ask, lines } = await usePrograms(t, settings, { slots: 1, warm: 1 })
  const ports: string[] = []
  for (const repeatable of [false, true, false, false, true, false, true]) {
    const { kind, body } = await ask('/', { repeatable })
    assert.equal(kind, 'http')
    ports.push(body!)
  }
  assert.equal(ports.length, 7)
  assert.deepEqual(lines, [])
})
