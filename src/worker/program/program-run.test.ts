/** Requests to programs and their answers are passed on unchanged. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { after } from 'node:test'
import { until } from '../slots/testing/use-pool.ts'
import { type Answer, read, usePrograms } from './testing/use-programs.ts'

const { pool, start, ask, lines } = await usePrograms({ after })

const echoed = ({ body }: Answer) => JSON.parse(body!)

test('a request keeps the order and spelling of its headers, including repeated ones', async () => {
  const headers = [
    'HOST',
    'example.test',
    'X-b',
    '1',
    'x-A',
    'zwölf',
    'X-b',
    '2',
    'Cookie',
    'a=1',
    'Cookie',
    'b=2',
  ]
  const hop = [
    'Connection',
    'keep-alive, X-Mine',
    'X-Mine',
    'gone',
    'TE',
    'trailers',
    'Proxy-Authorization',
    'x',
  ]
  for (const [method, sent] of [
    ['GET', ''],
    ['POST', 'zwölf'],
  ] as const) {
    const length = sent === '' ? [] : ['Content-Length', `${sent.length}`]
    const { rawHeaders, ...echo } = echoed(
      await ask('/echo?a=%20b&&c', {
        ...{ method, headers: [...headers, ...length, ...hop] },
        ...(sent !== '' && { body: Readable.from([Buffer.from(sent, 'latin1')]) }),
      }),
    )
    assert.deepEqual(echo, { method, url: '/echo?a=%20b&&c', rawTrailers: [], body: sent })
    assert.deepEqual(rawHeaders, [...headers, ...length, 'Connection', 'keep-alive'])
  }
})

test('bodies with a length, without a length, empty and missing bodies are distinguished', async () => {
  const framed = ({ rawHeaders }: { rawHeaders: string[] }) =>
    rawHeaders.slice(2).filter((name) => !/^(connection|keep-alive)$/i.test(name))
  const send = async (method: string, headers: string[], body?: string) =>
    echoed(
      await ask('/echo', {
        method,
        headers: ['Host', 'h', ...headers],
        ...(body !== undefined && { body: Readable.from([Buffer.from(body, 'latin1')]) }),
      }),
    )
  const whole = await send('POST', ['Content-Length', '3'], 'äbc')
  assert.deepEqual([framed(whole), whole.body], [['Content-Length', '3'], 'äbc'])
  const chunked = await send('PUT', [], 'abc')
  assert.deepEqual([framed(chunked), chunked.body], [['Transfer-Encoding', 'chunked'], 'abc'])
  const ofGet = await send('GET', [], 'abc')
  assert.deepEqual([framed(ofGet), ofGet.body], [['Transfer-Encoding', 'chunked'], 'abc'])
  assert.deepEqual(framed(await send('POST', ['Content-Length', '0'])), ['Content-Length', '0'])
  assert.deepEqual(framed(await send('POST', [])), ['Content-Length', '0'])
  assert.deepEqual(framed(await send('DELETE', [])), [])
})

test('trailers pass both ways', async () => {
  const trailers = ['X-Check', '1', 'x-check', '2']
  const request = { method: 'POST', body: Readable.from(['abc']), trailers: () => trailers }
  assert.deepEqual(echoed(await ask('/echo', request)).rawTrailers, trailers)
  const answer = await ask('/trailers')
  assert.equal(answer.body, 'body')
  assert.deepEqual(answer.trailers, ['X-Sum', '42', 'plimsoll-work', '7.5'])
  assert.ok(answer.head!.headers.includes('X-Head'))
  assert.ok(!answer.head!.headers.some((name) => /^(transfer-encoding|connection)$/i.test(name)))
})

test('an answer keeps the status, message and headers of the program', async () => {
  const { head, body } = await ask('/raw')
  assert.equal(body, 'raw')
  assert.deepEqual([head!.status, head!.message], [299, 'Odd But Fine'])
  assert.deepEqual(head!.headers.slice(0, 6), ['X-One', '1', 'x-two', 'ä', 'X-One', 'again'])
  const bodiless = await ask('/raw', { method: 'HEAD' })
  assert.deepEqual([bodiless.head!.status, bodiless.body], [299, ''])
})

test('both bodies are streamed', async () => {
  const body = new PassThrough()
  const run = start('/both-ways', { method: 'POST', body })
  const answer = await run.answer
  assert.ok(answer.kind === 'http')
  for (const word of ['one', 'two', 'three']) {
    body.write(word)
    const [chunk] = (await once(answer.body, 'data')) as [Buffer]
    assert.equal(`${chunk}`, word)
  }
  body.end()
  assert.equal(await text(answer.body), '')
  await run.ended
})

test('an answer is read with backpressure', async () => {
  const run = start('/much?pieces=1000')
  const answer = await run.answer
  assert.ok(answer.kind === 'http')
  const before = lines.length
  let seen = -1
  // When nothing more is printed, the buffers in between are full.
  await until(() => {
    const same = lines.length === seen && lines.length > before + 1
    seen = lines.length
    return same
  }, 'the program waits')
  assert.ok(lines.length - before < 18, `line ${lines.length - before} of 20`)
  assert.equal(
    (await answer.body.toArray()).reduce((sum, { length }) => sum + length, 0),
    65_536_000,
  )
  await run.ended
})

test('an answer may arrive before the request is complete', async () => {
  const body = new PassThrough()
  body.write('the beginning')
  const { head, body: text } = await ask('/early', { method: 'POST', body })
  assert.deepEqual([head!.status, text], [413, 'too large'])
  body.destroy()
})

test('a program can switch to another protocol, and the job ends with the connection', async () => {
  const headers = ['Host', 'h', 'Upgrade', 'websocket', 'Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==']
  const run = start('/', { headers, upgrade: true })
  const answer = await run.answer
  assert.ok(answer.kind === 'upgraded')
  assert.equal(answer.head.status, 101)
  assert.ok(answer.head.headers.includes('s3pPLMBiTxaQ9kYGzzhZRbK+xOo='))
  answer.socket.write('hello')
  assert.equal(`${(await once(answer.socket, 'data'))[0]}`, 'hello')
  answer.socket.end()
  assert.equal((await run.ended).measure, 'cpu')
  const refused = await ask('/no', { headers, upgrade: true })
  assert.deepEqual([refused.kind, refused.head!.status, refused.body], ['http', 403, 'no'])
})

test('an invalid answer, or a connection that closes without one, is a crash with a message', async () => {
  const garbage = await ask('/garbage')
  assert.equal(garbage.kind, 'crash')
  assert.match(garbage.message!, /^the program of slot \d sent an invalid HTTP response \(Parse Error/)
  const dropped = await ask('/drop')
  assert.equal(dropped.kind, 'crash')
  assert.match(dropped.message!, /^the program of slot \d closed the connection without an answer$/)
  assert.equal((await ask('/health')).head!.status, 204)
})

test('an answer that ends early is broken, with or without a length', async () => {
  await assert.rejects(read(start('/cut')), { code: 'ANSWER_BROKEN', kind: 'crash' })
  assert.equal((await read(start('/old'))).body, 'all of it')
  const waits = start('/old?wait')
  const reading = read(waits)
  await until(() => lines.some((line) => line.endsWith('waits')), 'the program has answered')
  await waits.answer
  process.kill(waits.pid!, 'SIGKILL')
  await assert.rejects(reading, { code: 'ANSWER_BROKEN', kind: 'killed' })
})

test('a program killed during a request is distinguished from one that exits', async () => {
  const run = start('/hang')
  await until(() => lines.some((line) => line.endsWith('hangs')), 'the request has arrived')
  process.kill(run.pid!, 'SIGKILL')
  const { kind, message } = await read(run)
  assert.equal(kind, 'killed')
  assert.match(message!, /^the program of slot \d was ended by SIGKILL/)
  await run.ended
  const exited = await ask('/exit')
  assert.equal(exited.kind, 'crash')
  assert.match(exited.message!, /^the program of slot \d exited with code 3 \(last line: the end\)$/)
})

test('a job without an HTTP request fails with a message', async () => {
  const run = pool.start({ job: 'j', attempt: 1, workload: 'server', params: {} })
  assert.equal((await read(run)).message, 'a program accepts only HTTP requests')
  await run.ended
})
