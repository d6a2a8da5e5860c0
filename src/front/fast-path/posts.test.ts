import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import test from 'node:test'
import { answer, get, serve } from './testing/fast-server.ts'

const post = (path: string, body: string, method = 'POST') =>
  `${method} ${path} HTTP/1.1\r\nhost: h\r\ncontent-length: ${body.length}\r\n\r\n${body}`

test('a POST whose body comes with its head is taken with the body', async (t) => {
  const { client, next, general } = await serve(t)
  const user = await client()
  for (const body of ['hello', '', 'GET / HTTP/1.1\r\n\r\n']) {
    user.text = ''
    user.send(post('/fast', body))
    const asked = await next()
    assert.deepEqual([asked.request.method, `${asked.request.wholeBody}`], ['POST', body])
    answer(asked)
    await user.until(/ok$/)
  }
  assert.deepEqual(general, ['GET /first'])
})

test('so are PUT, PATCH and DELETE, and a DELETE without a body', async (t) => {
  const { client, next, general } = await serve(t)
  const user = await client()
  const long = 'x'.repeat(20_000)
  for (const [request, body] of [
    [post('/fast', 'hello', 'PUT'), 'hello'],
    [post('/fast', 'hello', 'PATCH'), 'hello'],
    [post('/fast', 'hello', 'DELETE'), 'hello'],
    [get('/fast').replace('GET', 'DELETE'), undefined],
    [post('/fast', long), long],
  ] as const) {
    user.text = ''
    user.send(request)
    const asked = await next()
    assert.equal(asked.request.method, request.slice(0, request.indexOf(' ')))
    assert.equal(asked.request.wholeBody?.toString(), body)
    answer(asked)
    await user.until(/ok$/)
  }
  assert.deepEqual(general, ['GET /first'])
  for (const other of [post('/fast', 'hello', 'OPTIONS'), post('/fast', 'hello', 'GET')]) {
    user.text = ''
    user.send(other)
    await user.until(/node/)
  }
})

test('a POST that the server gets after all is read with its body, and so is the next request', async (t) => {
  const { client, next, server, general } = await serve(t)
  const bodies: string[] = []
  server.on('request', (request: IncomingMessage) => {
    if (request.url === '/fast') request.on('data', (chunk) => bodies.push(`${chunk}`))
  })
  const user = await client()
  user.send(post('/fast', 'one'))
  ;(await next()).exchange.general()
  await user.until(/general/)
  user.send(post('/fast', 'two'))
  const first = await next()
  user.send(post('/second', 'GET /third HTTP/1.1\r\n\r\n'))
  while (general.length < 2) await new Promise(setImmediate)
  answer(first)
  await user.until(/ok.*node \/second/s)
  user.send(get('/fast'))
  answer(await next())
  await user.until(/ok$/)
  assert.deepEqual(
    [bodies, general],
    [
      ['one', 'two'],
      ['GET /first', 'POST /second'],
    ],
  )
})
