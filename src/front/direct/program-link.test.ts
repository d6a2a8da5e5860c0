import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import test from 'node:test'
import type { ProgramCall } from './program-connection.ts'
import { ProgramLink } from './program-link.ts'
import { fakeProgram, ok } from './testing/fake-program.ts'

interface TestCall extends ProgramCall {
  /** `200 ok`, or why it failed. */
  result: Promise<string>
  lasted: number
}

function call(method = 'GET'): TestCall {
  const { promise: result, resolve, reject } = Promise.withResolvers<string>()
  let calls = 0
  const once = (text: string) => (++calls === 1 ? resolve(text) : reject(new Error(`${text} as well`)))
  const made: TestCall = {
    ...{ method, mayRepeat: true, result, lasted: 0 },
    odd: () => once('odd'),
    answered: ({ status }, body) => once(`${status} ${Buffer.concat(body)}`),
    ...{ begins: () => undefined, completed: () => once('completed'), brokenOff: () => once('broken off') },
    failed: once,
    lasts: () => void made.lasted++,
  }
  return made
}

const get = 'GET / HTTP/1.1\r\n\r\n'
const closed = async (link: ProgramLink) => {
  while (link.pending > 0) await new Promise(setImmediate)
}

test('an idle connection is reused, the last used first', async (t) => {
  const program = await fakeProgram(t)
  const link = new ProgramLink(program.address)
  t.after(() => link.retire())
  const [first, second] = [call(), call()]
  link.send(get, first)
  link.send(get, second)
  assert.equal(link.pending, 2)
  const [a, b] = [await program.next(), await program.next()]
  a.socket.write(ok)
  assert.equal(await first.result, '200 ok')
  b.socket.write(ok)
  assert.equal(await second.result, '200 ok')
  assert.equal(link.pending, 0)
  const third = call()
  link.send(get, third)
  const c = await program.next()
  assert.equal(c.socket, b.socket)
  c.socket.write(ok)
  assert.equal(await third.result, '200 ok')
  assert.equal(program.sockets.length, 2)
})

test('a connection that the program closes is not used again', async (t) => {
  const program = await fakeProgram(t)
  const link = new ProgramLink(program.address)
  t.after(() => link.retire())
  for (const answer of [`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok`, `${ok}more`]) {
    const sent = call()
    link.send(get, sent)
    const { socket } = await program.next()
    socket.write(answer)
    assert.equal(await sent.result, '200 ok')
    await once(socket, 'close')
    await closed(link)
  }
  // One that is closed while it is idle, and one on which something arrives that nobody asked for.
  for (const end of [
    (socket: { end(): void }) => socket.end(),
    (socket: { write(data: string): void }) => socket.write(ok),
  ]) {
    const sent = call()
    link.send(get, sent)
    const { socket } = await program.next()
    socket.write(ok)
    await sent.result
    end(socket)
    await once(socket, 'close')
  }
  assert.equal(program.sockets.length, 4)
  assert.equal(link.pending, 0)
})

test('a request on a connection that is just being closed is given back', async (t) => {
  for (const cut of ['end', 'resetAndDestroy'] as const) {
    const program = await fakeProgram(t)
    const link = new ProgramLink(program.address)
    const first = call()
    link.send(get, first)
    const { socket } = await program.next()
    socket.write(ok)
    await first.result
    const second = call()
    socket[cut]()
    link.send(get, second)
    assert.equal(await second.result, 'broken')
    assert.equal(link.pending, 0)
  }
})

test('answers that are odd, cut off or missing are given back', async (t) => {
  const program = await fakeProgram(t)
  const link = new ProgramLink(program.address)
  t.after(() => link.retire())
  const cases: [string, string][] = [
    ['HTTP/1.0 200 OK\r\n\r\nhi', 'odd'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi', 'broken'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n', 'broken'],
    ['', 'broken'],
  ]
  for (const [answer, why] of cases) {
    const sent = call()
    link.send(get, sent)
    const { socket } = await program.next()
    socket.end(answer)
    assert.equal(await sent.result, why)
    await closed(link)
    assert.equal(link.pending, 0)
  }
})

test('a cancelled request is closed without a word', async (t) => {
  const program = await fakeProgram(t)
  const link = new ProgramLink(program.address)
  t.after(() => link.retire())
  const sent = call()
  sent.result.then(assert.fail, assert.fail)
  const connection = link.send(get, sent)
  const { socket } = await program.next()
  connection.cancel()
  await once(socket, 'close')
  await closed(link)
  assert.equal(link.pending, 0)
})

test('a program that does not listen is unreachable', async () => {
  const server: Server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  const addresses = [{ host: '127.0.0.1', port }, { path: '/nonexistent/plimsoll.sock' }]
  for (const address of addresses) {
    const link = new ProgramLink(address)
    const sent = call()
    link.send(get, sent)
    assert.equal(await sent.result, 'unreachable')
    assert.equal(link.pending, 0)
  }
})

test('idle connections are closed after 4 s, and none is used that is older', async (t) => {
  const program = await fakeProgram(t)
  let now = 0
  const link = new ProgramLink(program.address, () => now)
  t.after(() => link.retire())
  const use = async () => {
    const sent = call()
    link.send(get, sent)
    const { socket } = await program.next()
    socket.write(ok)
    await sent.result
    return socket
  }
  const first = await use()
  now = 3_999
  link.sweep()
  assert.equal(await use(), first)
  now = 7_999
  assert.notEqual(await use(), first)
  link.sweep()
  await once(first, 'close')
  assert.equal(first.destroyed, true)
})

test('a request that must not be repeated gets a connection that was used within the last second', async (t) => {
  const program = await fakeProgram(t)
  let now = 0
  const link = new ProgramLink(program.address, () => now)
  t.after(() => link.retire())
  const post = async () => {
    const sent = { ...call('POST'), mayRepeat: false }
    link.send(get, sent)
    const { socket } = await program.next()
    socket.write(ok)
    assert.equal(await sent.result, '200 ok')
  }
  await post()
  now += 999
  await post()
  assert.equal(program.sockets.length, 1)
  now += 1_000
  await post()
  assert.equal(program.sockets.length, 2)
  const slow = { ...call('POST'), mayRepeat: false }
  link.send(get, slow)
  const { socket } = await program.next()
  now += 60_000
  link.sweep()
  socket.write(ok)
  assert.equal(await slow.result, '200 ok')
})

test('a retired link finishes its requests and keeps no connection', async (t) => {
  const program = await fakeProgram(t)
  const link = new ProgramLink(program.address)
  const [done, open] = [call(), call()]
  link.send(get, done)
  const idle = await program.next()
  link.send(get, open)
  const busy = await program.next()
  idle.socket.write(ok)
  await done.result
  link.retire()
  await once(idle.socket, 'close')
  assert.equal(link.isOver, false)
  busy.socket.write(ok)
  assert.equal(await open.result, '200 ok')
  await once(busy.socket, 'close')
  while (!link.isOver) await new Promise(setImmediate)
  assert.equal(link.pending, 0)
})

test('requests in progress share the time of their program', async (t) => {
  const program = await fakeProgram(t)
  let now = 0
  const link = new ProgramLink(program.address, () => now)
  t.after(() => link.retire())
  assert.equal(link.sharedMs(), 0)
  now = 100
  assert.equal(link.sharedMs(), 0)
  const sent = [call(), call()]
  link.send(get, sent[0]!)
  now = 110
  assert.equal(link.sharedMs(), 10)
  link.send(get, sent[1]!)
  now = 130
  assert.equal(link.sharedMs(), 20)
  ;(await program.next()).socket.write(ok)
  await Promise.race(sent.map(({ result }) => result))
  now = 140
  assert.equal(link.sharedMs(), 30)
})

test('an answer whose body stops is given back', async (t) => {
  const program = await fakeProgram(t)
  let now = 0
  const link = new ProgramLink(program.address, () => now)
  const sent = call()
  let result: string | undefined
  sent.result.then((why) => {
    result = why
  })
  link.send(get, sent)
  const { socket } = await program.next()
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n')
  // The clock is slow, so that the head arrives long before the limit of the request.
  for (; result === undefined; now++) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    link.sweep()
  }
  assert.equal(result, 'odd')
})

test('a request is reported after a second, and given back after ten', async (t) => {
  const program = await fakeProgram(t)
  let now = 0
  const link = new ProgramLink(program.address, () => now)
  const sent = call()
  link.send(get, sent)
  await program.next()
  now = 999
  link.sweep()
  assert.equal(sent.lasted, 0)
  now = 9_999
  for (let i = 0; i < 3; i++) link.sweep()
  assert.equal(sent.lasted, 1)
  now = 10_000
  link.sweep()
  assert.equal(await sent.result, 'slow')
  await closed(link)
})

test('a program that does not accept a connection within a second is unreachable', async (t) => {
  const program = await fakeProgram(t)
  let now = 0
  const link = new ProgramLink(program.address, () => now)
  const sent = call()
  link.send(get, sent)
  now = 1_000
  // No event of the connection was handled yet.
  link.sweep()
  assert.equal(await sent.result, 'unreachable')
  await closed(link)
})
