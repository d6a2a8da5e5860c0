import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { FrontServer } from './connection-steps.ts'

/** More than the buffers of the system take. */
const bytes = 16 * 1024 * 1024

const answers = {
  'by Node': (response: ServerResponse) => void response.end(Buffer.alloc(bytes)),
  'on the connection itself, as by the fast path': (response: ServerResponse) => {
    const socket = response.socket!
    response.end()
    socket.write(Buffer.alloc(bytes))
  },
}

for (const [how, answer] of Object.entries(answers)) {
  test(`idle connections are closed, but not before their clients have read what was written ${how}`, async (t) => {
    const ended = Promise.withResolvers<void>()
    const server = new FrontServer({}, (_request, response) => {
      answer(response)
      ended.resolve()
    })
    t.after(() => server.closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const client = connect(port, '127.0.0.1')
    client.pause()
    client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
    await ended.promise
    server.closeIdleConnections()
    server.close()
    let read = 0
    for await (const chunk of client) {
      read += (chunk as Buffer).length
      if (read > bytes) server.closeIdleConnections()
    }
    assert.ok(read > bytes, `${read} bytes were read`)
  })
}
