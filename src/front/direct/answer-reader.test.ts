import assert from 'node:assert/strict'
import test from 'node:test'
import { ReadBuffers } from '../../lib/read-buffers.ts'
import { AnswerReader, longestBody } from './answer-reader.ts'
import { type ReadAnswer, readAnswer } from './testing/read-answer.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const of = (status: number, message: string, headers: string[], body = ''): ReadAnswer => ({
  ...{ status, message, headers, body },
})

/** Method, bytes, what is read, and whether the connection can be used again. */
const plain: [string, string, ReadAnswer, boolean?][] = [
  ['GET', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi', of(200, 'OK', ['Content-Length', '2'], 'hi')],
  ['GET', 'HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n', of(200, 'OK', ['content-length', '0'])],
  ['GET', 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', of(200, '', ['content-length', '0'])],
  ['GET', 'HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n', of(200, '', ['content-length', '0'])],
  ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', of(204, 'No Content', [])],
  [
    'GET',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',
    of(304, 'Not Modified', ['Content-Length', '9']),
  ],
  ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n', of(200, 'OK', ['Content-Length', '9'])],
  ['HEAD', 'HTTP/1.1 200 OK\r\n\r\n', of(200, 'OK', [])],
  [
    'GET',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n',
    of(200, 'OK', ['Transfer-Encoding', 'chunked'], 'abc0123456789'),
  ],
  [
    'GET',
    'HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nset-cookie: b\r\nX:\t v \xa0\r\nEmpty:\r\nconstructor: c\r\nContent-Length: 1\r\n\r\nx',
    of(
      ...([200, 'OK'] as const),
      [
        'Set-Cookie',
        'a',
        'set-cookie',
        'b',
        'X',
        'v \xa0',
        'Empty',
        '',
        'constructor',
        'c',
        'Content-Length',
        '1',
      ],
      'x',
    ),
  ],
  [
    ...(['GET', 'HTTP/1.1 404 N\xf6\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx'] as const),
    of(404, 'N\xf6', ['Connection', 'close', 'Content-Length', '1'], 'x'),
    false,
  ],
  ['GET', 'HTTP/1.1 204 OK\r\n\r\nmore', of(204, 'OK', []), false],
]

test('plain answers are read, however they are divided', () => {
  for (const [method, text, answer, keepsAlive = true] of plain) {
    const bytes = latin1(text)
    assert.deepEqual(readAnswer(method, bytes), { answer, keepsAlive }, text)
    for (let cut = 1; cut < bytes.length; cut++) {
      const read = readAnswer(method, bytes, [cut])
      assert.deepEqual(read?.answer, answer, `${text} cut at ${cut}`)
      // Bytes behind the answer may arrive after it.
      assert.equal(read?.keepsAlive, keepsAlive, `${text} cut at ${cut}`)
    }
    const everywhere = Array.from({ length: bytes.length - 1 }, (_, i) => i + 1)
    assert.deepEqual(readAnswer(method, bytes, everywhere)?.answer, answer)
  }
})

const odd: [why: string, text: string][] = [
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['HTTP/1.2', 'HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['lower case', 'http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['informational', 'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['status', 'HTTP/1.1 600 OK\r\nContent-Length: 0\r\n\r\n'],
  ['four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'],
  ['no length', 'HTTP/1.1 200 OK\r\n\r\nhi'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\nhi'],
  ['signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nhi'],
  ['list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi'],
  [
    'length and chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['codings', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['tab behind the coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n'],
  [
    'coding twice',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['extension', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\nx\r\n0\r\n\r\n'],
  ['trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\na: b\r\n\r\n'],
  ['announced trailers', 'HTTP/1.1 200 OK\r\nTrailer: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunk end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n'],
  ['bare line feed in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n'],
  [
    'size of many digits',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000001\r\nx\r\n0\r\n\r\n',
  ],
  ['folded line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n'],
  ['bare line feed', 'HTTP/1.1 200 OK\r\nA: b\nContent-Length: 0\r\n\r\n'],
  ['bare carriage return', 'HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 0\r\n\r\n'],
  ['NUL', 'HTTP/1.1 200 OK\r\nA: b\0c\r\nContent-Length: 0\r\n\r\n'],
  ['blank before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nhi'],
  ['no colon', 'HTTP/1.1 200 OK\r\nA\r\nContent-Length: 0\r\n\r\n'],
  ['no name', 'HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 0\r\n\r\n'],
  ['upgrade', 'HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nContent-Length: 0\r\n\r\n'],
  ['options of the connection', 'HTTP/1.1 200 OK\r\nConnection: close, x\r\nContent-Length: 0\r\n\r\n'],
  [
    'header named by the connection',
    'HTTP/1.1 200 OK\r\nConnection: close\r\nClose: x\r\nContent-Length: 0\r\n\r\n',
  ],
  ['work', 'HTTP/1.1 200 OK\r\nPlimsoll-Work: 5\r\nContent-Length: 0\r\n\r\n'],
  ['events', 'HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream\r\nContent-Length: 1\r\n\r\nx'],
  [
    'long chunk',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${(longestBody + 1).toString(16)}\r\n`,
  ],
  ['long head', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(65 * 1024)}\r\nContent-Length: 0\r\n\r\n`],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n\r\n'],
]

test('all other answers are odd, however they are divided', () => {
  for (const [why, text] of odd) {
    const bytes = latin1(text)
    for (const cuts of [[], [1], [20], [bytes.length - 1]]) {
      const reader = new AnswerReader('GET', new ReadBuffers())
      let from = 0
      for (const cut of [...cuts, bytes.length]) {
        reader.read(bytes.subarray(from, cut))
        from = cut
      }
      assert.deepEqual([reader.state, reader.keepsAlive], ['odd', false], why)
    }
  }
})

test('of a long answer, the head and the first bytes are read', () => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${longestBody + 1}\r\n\r\n`
  for (const [first, cut] of [
    ['', 20],
    ['first bytes', 20],
    ['first bytes', head.length],
  ] as const) {
    const reader = new AnswerReader('GET', new ReadBuffers())
    const bytes = latin1(head + first)
    reader.read(bytes.subarray(0, cut))
    reader.read(bytes.subarray(cut))
    const has = cut === head.length ? '' : first
    assert.deepEqual([reader.state, reader.head?.status], ['long', 200])
    assert.equal(Buffer.concat(reader.body).toString(), has)
    assert.equal(reader.left, longestBody + 1 - has.length)
  }
  const [asked] = [readAnswer('HEAD', latin1(head))]
  assert.equal(asked?.answer.status, 200)
})

test('a body of known length is read into one buffer, which is used again', () => {
  const buffers = new ReadBuffers()
  const body = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
  const start = Buffer.concat([latin1(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`), body])
  const used: Buffer[] = []
  for (let turn = 0; turn < 2; turn++) {
    const reader = new AnswerReader('GET', buffers)
    assert.equal(reader.place, undefined)
    reader.read(start.subarray(0, 1_000))
    for (let at = 1_000; at < start.length; ) {
      const place = reader.place!
      const bytes = start.copy(place, 0, at, Math.min(at + 30_000, start.length))
      reader.read(place.subarray(0, bytes))
      at += bytes
    }
    assert.equal(reader.state, 'done')
    assert.equal(reader.body.length, 1)
    assert.deepEqual(reader.body[0], body)
    used.push(reader.body[0]!)
    reader.release()
    reader.release()
  }
  assert.equal(used[0]!.buffer, used[1]!.buffer)
})

test('an answer of known length can be stopped early, others cannot', () => {
  for (const length of [20, 100_000]) {
    const reader = new AnswerReader('GET', new ReadBuffers())
    reader.read(latin1(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\nab`))
    reader.read(latin1('c'))
    assert.equal(reader.stopEarly(), true)
    assert.deepEqual([reader.state, reader.left], ['long', length - 3])
    assert.equal(Buffer.concat(reader.body).toString(), 'abc')
  }
  const reader = new AnswerReader('GET', new ReadBuffers())
  reader.read(latin1('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab'))
  assert.equal(reader.stopEarly(), false)
})

test('an endless head is given up', () => {
  const reader = new AnswerReader('GET', new ReadBuffers())
  const line = latin1(`a: ${'b'.repeat(1000)}\r\n`)
  reader.read(latin1('HTTP/1.1 200 OK\r\n'))
  for (let i = 0; i < 100; i++) reader.read(line)
  assert.equal(reader.state, 'odd')
})
