/** Requests with a body, and requests that must not be repeated: sent to a program at most once. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { directly, order } from './testing/direct-server.ts'
import { fakeProgram, ok } from './testing/fake-program.ts'

test('a short body is sent behind its head, with every method that has one', async (t) => {
  const program = await fakeProgram(t)
  const { requests, ask, report } = await directly(t)
  requests.update(order(['a'], program))
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    for (const body of ['hello', 'GET / HTTP/1.1\r\n\r\n', '']) {
      const answer = ask('/a/1', method, body)
      const { text, socket } = await program.next()
      assert.ok(text.startsWith(`${method} /a/1 HTTP/1.1\r\n`), text)
      // Clients send a DELETE with an empty body without its length.
      if (method !== 'DELETE' || body !== '')
        assert.match(text, new RegExp(`content-length: ${body.length}\\r\\n`))
      assert.ok(text.endsWith(`\r\n\r\n${body}`), text)
      socket.write(ok)
      assert.equal(await (await answer).text(), 'ok')
    }
  assert.equal(program.sockets.length, 1)
  const { rows, counts } = report()!
  assert.equal(counts[0]?.answered, 12)
  assert.match(rows[0]!.key, /^POST \/a\/1 5 /)
})

test('a longer body is sent whole, and too long a one takes the general path', async (t) => {
  const program = await fakeProgram(t)
  const { requests, ask } = await directly(t)
  requests.update(order(['a'], program))
  const longest = 'x'.repeat(65_536)
  const answer = ask('/a/1', 'POST', longest)
  let text = ''
  while (!text.endsWith(`\r\n\r\n${longest}`)) {
    const received = await program.next()
    text += received.text
    if (text.endsWith(longest)) received.socket.write(ok)
  }
  assert.equal(await (await answer).text(), 'ok')
  assert.match(await (await ask('/a/1', 'POST', `${longest}x`)).text(), /^general \/a\/1 x{65537} /)
})

test('a request that must not be repeated and was sent ends with an unknown outcome if its connection breaks', async (t) => {
  const program = await fakeProgram(t)
  const { requests, ask, lines, report } = await directly(t)
  requests.update(order(['a'], program))
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const answer = ask('/a/1', 'POST', 'once')
    ;(await program.next()).socket[end]()
    const response = await answer
    assert.equal(response.status, 502)
    assert.match(response.headers.get('plimsoll-job')!, /-d$/)
    const { type, detail } = (await response.json()) as Record<string, string>
    assert.equal(type, 'urn:plimsoll:outcome-unknown')
    assert.match(detail!, /^It had started, must not be repeated, and was lost \(connection-lost\)\./)
  }
  assert.match(
    lines.at(-1)!,
    /^job .*: its outcome is unknown: the program of worker w1 closed its connection$/,
  )
  assert.equal(program.sockets.length, 2)
  // One that may be repeated is.
  const put = ask('/a/1', 'PUT', 'again')
  ;(await program.next()).socket.destroy()
  assert.match(await (await put).text(), /^general \/a\/1 again /)
  assert.equal(report()!.counts[0]?.givenBack, 3)
})

test('routes say what may be repeated', async (t) => {
  const program = await fakeProgram(t)
  const { requests, ask } = await directly(t, [
    { name: 'always', path: '/always', repeat: true },
    { name: 'never', path: '/never', repeat: false },
  ])
  requests.update(order(['always', 'never'], program))
  const post = ask('/always', 'POST', 'x')
  ;(await program.next()).socket.destroy()
  assert.match(await (await post).text(), /^general \/always x /)
  for (const method of ['GET', 'PUT']) {
    const never = ask('/never', method, method === 'PUT' ? 'x' : undefined)
    ;(await program.next()).socket.destroy()
    assert.equal((await never).status, 502)
  }
})

test('a request that reached no program takes the general path, whether it may be repeated or not', async (t) => {
  const { requests, ask } = await directly(t)
  requests.update(order(['a'], { address: { path: '/nonexistent/plimsoll.sock' } }))
  assert.match(await (await ask('/a/1', 'POST', 'x')).text(), /^general \/a\/1 x /)
})

/** Answers that only a full parser reads, with what the client gets. */
const odd: [name: string, answer: string, body: string, fields?: Record<string, string>][] = [
  ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nold', 'old'],
  ['that end with the connection', 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nend', 'end'],
  ['after an early hint', `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok}`, 'ok'],
  [
    'with a chunk extension',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;a=b\r\nhi\r\n0\r\n\r\n',
    'hi',
  ],
  [
    'with work',
    `HTTP/1.1 200 OK\r\nplimsoll-work: 42\r\ncontent-length: 2\r\n\r\nhi`,
    'hi',
    { 'plimsoll-work': '42' },
  ],
  [
    'with trailers',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 5\r\n\r\n',
    'hi',
    { trailer: 'x-sum' },
  ],
  [
    'of many chunks',
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${`10000\r\n${'x'.repeat(65_536)}\r\n`.repeat(9)}0\r\n\r\n`,
    'x'.repeat(9 * 65_536),
  ],
]

for (const [name, bytes, body, fields = {}] of odd)
  test(`odd answers ${name} are passed on if the request must not be repeated`, async (t) => {
    const program = await fakeProgram(t)
    const { requests, ask, counts } = await directly(t)
    requests.update(order(['a'], program))
    const answer = ask('/a/1', 'POST', 'once')
    const { socket } = await program.next()
    socket.end(bytes)
    const response = await answer
    assert.equal(response.status, 200)
    for (const field in fields) assert.equal(response.headers.get(field), fields[field])
    assert.ok((await response.text()) === body)
    // The next one of this path is left to the general path.
    assert.match(await (await ask('/a/1', 'POST', 'once')).text(), /^general/)
    assert.equal(program.sockets.length, 1)
    while (counts().left < 1) await new Promise(setImmediate)
    assert.equal(requests.leaving.length, 0)
  })

test('an answer that goes on and on is streamed, and cancelled if its client leaves', async (t) => {
  const program = await fakeProgram(t)
  const { requests, ask } = await directly(t)
  requests.update(order(['a'], program))
  const answer = ask('/a/events', 'POST', 'once')
  const { socket } = await program.next()
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n',
  )
  const reader = (await answer).body!.getReader()
  assert.equal(Buffer.from((await reader.read()).value!).toString(), 'first')
  socket.write('6\r\nsecond\r\n')
  assert.equal(Buffer.from((await reader.read()).value!).toString(), 'second')
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await reader.cancel()
  await closed
})

test('an odd answer that breaks off is an error for its client', async (t) => {
  const program = await fakeProgram(t)
  const { requests, ask } = await directly(t)
  requests.update(order(['a'], program))
  const events = ask('/a/events', 'POST', 'once')
  const { socket } = await program.next()
  socket.write(
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n',
  )
  const response = await events
  socket.resetAndDestroy()
  await assert.rejects(response.text(), /terminated/)
  // Before anything of it was passed on.
  const early = ask('/a/early', 'POST', 'once')
  ;(await program.next()).socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200')
  assert.equal((await early).status, 502)
})
