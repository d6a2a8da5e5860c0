import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import type { DirectOrder } from '../../wire/direct.ts'
import { directly, order } from './testing/direct-server.ts'
import { fakeProgram, ok } from './testing/fake-program.ts'

test('delegated routes are sent to programs, others are not', async (t) => {
  const program = await fakeProgram(t)
  const { requests, get, report } = await directly(t)
  assert.match(await get('/a/1'), /^general/)
  requests.update(order(['a'], program))
  const answer = get('/a/1?x=2')
  const { text, socket } = await program.next()
  assert.match(text, /^GET \/a\/1\?x=2 HTTP\/1\.1\r\n/)
  socket.write(ok)
  assert.equal(await answer, 'ok')
  for (const path of ['/b', '/a/../-/ready', '/a/%']) assert.match(await get(path), /^general/)
  const told = report()!
  assert.deepEqual(
    told.counts.map(({ name, worker, answered, givenBack }) => ({ name, worker, answered, givenBack })),
    [{ name: 'a', worker: 'w1', answered: 1, givenBack: 0 }],
  )
  assert.deepEqual([told.rows.length, told.rows[0]?.key], [1, 'GET /a/1?x=2'])
  requests.update(order([], program))
  assert.match(await get('/a/1'), /^general/)
})

test('a program without places gets no requests, and keeps its connections', async (t) => {
  const program = await fakeProgram(t)
  const { requests, get } = await directly(t)
  const withPlaces = (concurrency: number) => {
    const { names, workers } = order(['a'], program)
    const [{ id, programs }] = workers as [DirectOrder['workers'][number]]
    requests.update({ seq: 1, names, workers: [{ id, programs: { ...programs!, concurrency } }] })
  }
  for (const places of [1, 0, 1]) {
    withPlaces(places)
    if (places === 0) assert.match(await get('/a/1'), /^general/)
    else {
      const answer = get('/a/1')
      ;(await program.next()).socket.write(ok)
      assert.equal(await answer, 'ok')
    }
  }
  assert.equal(program.sockets.length, 1)
})

test('a failed or odd request takes the general path once, with no listener left', async (t) => {
  const program = await fakeProgram(t)
  const { requests, get, counts, report } = await directly(t)
  requests.update(order(['a'], program))
  const plain = await get('/b')
  const listeners = plain.split(' ').at(-1)
  const broken = get('/a/1')
  ;(await program.next()).socket.destroy()
  assert.equal(await broken, `general /a/1 ${listeners}`)
  const odd = get('/a/odd')
  ;(await program.next()).socket.end('HTTP/1.0 200 OK\r\n\r\n')
  assert.equal(await odd, `general /a/odd ${listeners}`)
  // It is not tried again; other paths of the route are.
  assert.equal(await get('/a/odd'), `general /a/odd ${listeners}`)
  const other = get('/a/1')
  ;(await program.next()).socket.write(ok)
  assert.equal(await other, 'ok')
  assert.equal(report()?.counts[0]?.givenBack, 2)
  while (counts().left < 3) await new Promise(setImmediate)
  assert.deepEqual(counts(), { entered: 3, left: 3 })
})

test('the least busy program is used, in turn among equals', async (t) => {
  const programs = [await fakeProgram(t), await fakeProgram(t)]
  const { requests, get } = await directly(t)
  requests.update(order(['a'], ...programs))
  const answers = Array.from({ length: 4 }, () => get('/a/1'))
  const arrived = []
  for (const program of programs) arrived.push(await program.next(), await program.next())
  for (const { socket } of arrived) socket.write(ok)
  assert.deepEqual(await Promise.all(answers), Array(4).fill('ok'))
  for (const program of [...programs, ...programs]) {
    const answer = get('/a/1')
    ;(await program.next()).socket.write(ok)
    assert.equal(await answer, 'ok')
  }
})

test('requests wait for a place, as many as there are places', async (t) => {
  const program = await fakeProgram(t)
  const { requests, get, counts, report } = await directly(t)
  requests.update(order(['a'], program))
  const answers = Array.from({ length: 4 }, () => get('/a/1'))
  const arrived = [await program.next(), await program.next()]
  while (counts().entered < 4) await new Promise(setImmediate)
  assert.match(await get('/a/1'), /^general/)
  for (const { socket } of arrived) socket.write(ok)
  // On the same connections.
  for (let i = 0; i < 2; i++) (await program.next()).socket.write(ok)
  assert.deepEqual(await Promise.all(answers), Array(4).fill('ok'))
  assert.equal(report()!.counts[0]?.answered, 4)
})

test('a request that waits takes the general path when its place does not become free', async (t) => {
  const program = await fakeProgram(t)
  const { requests, get, counts } = await directly(t)
  requests.update(order(['a'], program))
  const sent = [get('/a/1'), get('/a/1')]
  const arrived = [await program.next(), await program.next()]
  const late = get('/a/1')
  while (counts().entered < 3) await new Promise(setImmediate)
  const sweep = setInterval(() => requests.sweep(), 1)
  assert.match(await late, /^general/)
  clearInterval(sweep)
  const [other, last] = [get('/a/1'), get('/a/1')]
  while (counts().entered < 5) await new Promise(setImmediate)
  // Its route is no longer delegated.
  requests.update(order(['b'], program))
  arrived[0]!.socket.write(ok)
  assert.match(await other, /^general/)
  requests.close()
  assert.match(await last, /^general/)
  arrived[1]!.socket.write(ok)
  assert.deepEqual(await Promise.all(sent), ['ok', 'ok'])
})

test('a program that cannot be reached gets no requests for a while', async (t) => {
  const program = await fakeProgram(t)
  const gone = { ...program, address: { path: '/nonexistent/plimsoll.sock' } }
  const { requests, get } = await directly(t)
  requests.update(order(['a'], gone))
  assert.match(await get('/a/1'), /^general/)
  requests.update(order(['a'], gone, program))
  const answer = get('/a/1')
  ;(await program.next()).socket.write(ok)
  assert.equal(await answer, 'ok')
})

test('a program that is no longer named finishes its requests', async (t) => {
  const program = await fakeProgram(t)
  const { requests, get } = await directly(t)
  requests.update(order(['a'], program))
  const answer = get('/a/1')
  const { socket } = await program.next()
  requests.update(order(['a']))
  assert.equal(requests.isOver, false)
  assert.deepEqual(requests.leaving, ['w1'])
  socket.write(ok)
  assert.equal(await answer, 'ok')
  while (!requests.isOver) {
    await new Promise(setImmediate)
    requests.sweep()
  }
  assert.deepEqual(requests.leaving, [])
  assert.equal(
    socket.destroyed || (await new Promise((resolve) => socket.once('close', () => resolve(true)))),
    true,
  )
})

test('a client that has disconnected cancels its request', async (t) => {
  const program = await fakeProgram(t)
  const { requests, port, counts } = await directly(t)
  requests.update(order(['a'], program))
  const client = connect(port, '127.0.0.1')
  client.write('GET /a/1 HTTP/1.1\r\nhost: h\r\n\r\n')
  const { socket } = await program.next()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  client.destroy()
  await closed
  assert.deepEqual(counts(), { entered: 1, left: 1 })
})

test('a long answer is streamed, and counts when it is complete', async (t) => {
  const program = await fakeProgram(t)
  const { requests, port, report, counts } = await directly(t)
  requests.update(order(['a'], program))
  const answer = await Promise.all([
    fetch(`http://127.0.0.1:${port}/a/1`),
    program.next().then(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 600000\r\nX-Mine: 1\r\n\r\n${'x'.repeat(300_000)}`)
      return socket
    }),
  ])
  const [response, socket] = answer
  assert.deepEqual([response.status, response.headers.get('x-mine')], [200, '1'])
  assert.equal(response.headers.get('plimsoll-work'), null)
  socket.write('y'.repeat(300_000))
  assert.ok((await response.text()) === 'x'.repeat(300_000) + 'y'.repeat(300_000))
  assert.deepEqual(
    report()!.counts.map(({ answered, givenBack }) => ({ answered, givenBack })),
    [{ answered: 1, givenBack: 0 }],
  )
  while (counts().left < 1) await new Promise(setImmediate)
})

test('a long answer whose program breaks off is an error for its client, and is not counted', async (t) => {
  const program = await fakeProgram(t)
  const { requests, port, report } = await directly(t)
  requests.update(order(['a'], program))
  const asked = fetch(`http://127.0.0.1:${port}/a/1`)
  const { socket } = await program.next()
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n${'x'.repeat(300_000)}`)
  const response = await asked
  socket.destroy()
  await assert.rejects(response.text(), /terminated/)
  assert.equal(report(), undefined)
})

test('a client that leaves a long answer cancels it', async (t) => {
  const program = await fakeProgram(t)
  const { requests, port, counts } = await directly(t)
  requests.update(order(['a'], program))
  const client = connect(port, '127.0.0.1')
  client.write('GET /a/1 HTTP/1.1\r\nhost: h\r\n\r\n')
  const { socket } = await program.next()
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\r\n${'x'.repeat(300_000)}`)
  await new Promise((resolve) => client.once('data', resolve))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  client.destroy()
  await closed
  assert.deepEqual(counts(), { entered: 1, left: 1 })
})
