/** The direct path of small requests to an existing server: it is used, and its answers are the same. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import {
  ask,
  askDirectly,
  comparable,
  facts,
  general,
  patient,
  startServer,
  untilFacts,
} from './support/direct.ts'
import { cli, until } from './support/live.ts'
import { steadyLoad } from './support/steady-load.ts'
import { type Up, untilState } from './support/up.ts'

const limit = { timeout: 300_000 }

test('small requests are sent directly, and counted', limit, async (t) => {
  const up = await startServer(t, ...patient)
  const first = await ask(up, '/small')
  assert.equal(first.isDirect, false)
  await askDirectly(up)
  const { direct, counters } = await up.state()
  assert.deepEqual(direct.names, ['rest'])
  const load = steadyLoad(`${up.url}/small`, 2, 'small')
  await until(() => load.answered > 100, 'requests are answered')
  await load.stop()
  assert.deepEqual(load.errors, [])
  await untilState(up, (state) => state.direct.answered > direct.answered + 90, 'they are counted')
  await untilState(up, (state) => state.counters.results > counters.results + 90, 'the brain counts them')
  const metrics = await (await fetch(`${up.adminUrl}/metrics`)).text()
  assert.match(metrics, /^plimsoll_direct_requests_total\{outcome="answered"\} [1-9]/m)
  assert.match(metrics, /^plimsoll_direct_requests_total\{outcome="given-back"\} \d/m)

  await t.test('requests to a route with a time limit are not', async () => {
    for (let i = 0; i < 100; i++) assert.equal((await ask(up, '/limited')).isDirect, false)
  })

  await t.test('the ledger has a sample of them, and they have no story', async () => {
    const { head } = await askDirectly(up)
    const [, job = ''] = /^plimsoll-job: (.*)$/m.exec(head) ?? []
    const ledger = () => new DatabaseSync(join(up.dataDir, 'ledger.db'), { readOnly: true })
    await until(() => {
      using database = ledger()
      return database.prepare('SELECT 1 FROM jobs WHERE job = ?').get(job) !== undefined
    }, 'its row is written')
    const args = [cli, 'why', job, '--admin', up.adminUrl]
    const { promise, resolve } = Promise.withResolvers<string>()
    execFile(process.execPath, args, (_, stdout, stderr) => resolve(stdout + stderr))
    assert.match(await promise, /was answered directly.*story was not recorded.*--direct-below 0/s)
  })
})

const answers = [
  ...['/small', '/empty', '/same', '/missing', '/fault', '/zero', '/chunks', '/medium', '/close', '/headers'],
  ...['/small?a=b', '/chunks?%20', '/large', '/halting', '/too-long'],
]
/** Only the general path can pass them on. */
const oddAnswers = ['/large-chunks', '/trailers', '/work', '/http10', '/until-closed', '/extension', '/early']

test('answers are the same on both paths', limit, async (t) => {
  const up = await startServer(t, ...patient)
  await askDirectly(up)
  for (const method of ['GET', 'HEAD']) {
    for (const path of answers) {
      const [direct, other] = [await askDirectly(up, path, method), await ask(up, path, general, method)]
      assert.equal(other.isDirect, false)
      assert.deepEqual(comparable(direct), comparable(other), `${method} ${path}`)
    }
  }
  for (const path of oddAnswers) {
    const [tried, again, other] = [await ask(up, path), await ask(up, path), await ask(up, path, general)]
    assert.deepEqual([tried.isDirect, again.isDirect], [false, false], path)
    assert.deepEqual(comparable(tried), comparable(other), path)
    assert.deepEqual(comparable(again), comparable(other), path)
  }
  const { seen } = await facts(up)
  // Only the first is sent twice.
  for (const path of oddAnswers) assert.ok(seen[path]! <= 4, path)
  await askDirectly(up)
  await t.test('bytes after an answer do not become part of the next', () => bytesAfter(up))
  await t.test('streams begin at once', () => streamsBegin(up))
  await t.test('requests with anything unusual take the general path', () => unusualRequests(up))
  await t.test('pipelined requests keep their order', () => pipelined(up))
  await t.test('a client that disconnects cancels its request', () => disconnecting(up))
  await t.test('a client that reads slowly does not delay others', () => slowReaders(up))
  await t.test('a long answer that breaks off is an error on both paths', () => brokenAnswers(up))
  await t.test('a client that leaves a long answer cancels it', () => leavingLongAnswers(up))
})

async function bytesAfter(up: Up): Promise<void> {
  for (let i = 0; i < 5; i++) {
    assert.equal((await ask(up, '/more')).body, 'more')
    assert.match((await ask(up, '/small')).body, /small/)
  }
}

async function streamsBegin(up: Up): Promise<void> {
  for (const path of ['/events', '/dribble']) {
    const answer = await fetch(`${up.url}${path}`)
    const { value } = await answer.body!.getReader().read()
    assert.match(Buffer.from(value!).toString(), /first/)
  }
}

async function unusualRequests(up: Up): Promise<void> {
  for (const lines of [
    ...['plimsoll-deadline: 60000', 'content-length: 0', 'upgrade: h2c'],
    ...['plimsoll-announce: job', 'proxy-authorization: x'],
  ]) {
    const { isDirect, head, body } = await ask(up, '/small', `${lines}\r\n`)
    assert.equal(isDirect, false, lines)
    assert.match(head + body, /200 OK.*small/s, lines)
  }
  const withBody = await ask(up, '/echo', 'content-length: 2\r\n', 'GET', 'hi')
  assert.deepEqual([withBody.isDirect, /hi/.test(withBody.body)], [false, true])
  const posted = await ask(up, '/echo', 'transfer-encoding: chunked\r\n', 'POST', '2\r\nhi\r\n0\r\n\r\n')
  assert.deepEqual([posted.isDirect, /hi/.test(posted.body)], [false, true])
  const expecting = await ask(up, '/echo', 'expect: 100-continue\r\ncontent-length: 2\r\n', 'PUT', 'hi')
  assert.match(expecting.head + expecting.body, /100 Continue.*200 OK.*hi/s)
  assert.match((await ask(up, '/a/../-/workloads')).body, /"rest"|routes/)
  assert.match((await ask(up, '/small\tx')).head, /^HTTP\/1\.1 400/)
  assert.match((await ask(up, '/small', 'host: again\r\n')).head, /^HTTP\/1\.1 400/)
}

async function pipelined(up: Up): Promise<void> {
  const { hostname, port } = new URL(up.url)
  const socket = connect(Number(port), hostname)
  const paths = ['/slow?ms=300', '/small', '/medium', '/large', '/missing', '/small']
  const one = (path: string, more: string) => `GET ${path} HTTP/1.1\r\nhost: h\r\n${more}\r\n`
  const last = paths.length - 1
  socket.write(
    paths.map((path, i) => one(path, i === last ? 'connection: close\r\n' : i === 1 ? general : '')).join(''),
  )
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  await once(socket, 'close')
  const text = Buffer.concat(chunks).toString('latin1')
  const found = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
  assert.deepEqual(found, ['200', '200', '200', '200', '404', '200'])
  const order = ['slow', 'small', 'mmmm', 'llll', 'No Such Thing', 'small'].reduce(
    (at, word) => (at < 0 ? at : text.indexOf(word, at)),
    0,
  )
  assert.ok(order > 0)
}

async function disconnecting(up: Up): Promise<void> {
  const { hostname, port } = new URL(up.url)
  const before = await facts(up)
  const socket = connect(Number(port), hostname)
  socket.write('GET /gated?gate=never HTTP/1.1\r\nhost: h\r\n\r\n')
  await untilFacts(up, ({ seen }) => seen['/gated'] === (before.seen['/gated'] ?? 0) + 1, 'it has arrived')
  socket.destroy()
  await untilFacts(
    up,
    ({ aborted }) => aborted['/gated'] === (before.aborted['/gated'] ?? 0) + 1,
    'it is cancelled',
  )
}

async function slowReaders(up: Up): Promise<void> {
  const { hostname, port } = new URL(up.url)
  const sockets = Array.from({ length: 10 }, (_, i) => {
    const socket = connect(Number(port), hostname).pause()
    socket.write(`GET ${i % 2 ? '/medium' : '/large'} HTTP/1.1\r\nhost: h\r\n\r\n`)
    return socket
  })
  for (let i = 0; i < 20; i++) assert.match((await ask(up, '/small')).body, /small/)
  for (const socket of sockets) socket.destroy()
}

async function brokenAnswers(up: Up): Promise<void> {
  await askDirectly(up, '/large')
  for (const lines of ['', general]) {
    const { hostname, port } = new URL(up.url)
    const socket = connect(Number(port), hostname)
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    socket.write(`GET /broken HTTP/1.1\r\nhost: h\r\n${lines}\r\n`)
    const [error] = await once(socket, 'error')
    assert.equal(error.code, 'ECONNRESET')
    assert.ok(bytes < 2_000_000)
  }
}

async function leavingLongAnswers(up: Up): Promise<void> {
  const { hostname, port } = new URL(up.url)
  const before = (await facts(up)).aborted['/endless'] ?? 0
  const socket = connect(Number(port), hostname)
  socket.write('GET /endless HTTP/1.1\r\nhost: h\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  await untilFacts(up, ({ aborted }) => aborted['/endless'] === before + 1, 'it is cancelled')
}
