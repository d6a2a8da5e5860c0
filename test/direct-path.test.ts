/** The direct path of small requests to an existing server: the same answers, whatever dies or is replaced meanwhile. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { cli, until } from './support/live.ts'
import { isAlive } from './support/processes.ts'
import { steadyLoad } from './support/steady-load.ts'
import { startUp, type Up, untilState } from './support/up.ts'

const limit = { timeout: 300_000 }
const program = join(import.meta.dirname, 'fixtures', 'direct-program.mjs')
/** So much that a busy machine makes no request slow. */
const patient = ['--direct-below', '1000']

async function startServer(t: TestContext, ...args: string[]): Promise<Up & { folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-direct-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'plimsoll.config.json')
  const command = `${process.execPath} ${program} {port} ${folder}`
  const routes = [
    { name: 'slow', path: '/slow' },
    { name: 'limited', path: '/limited', limitMs: 60_000 },
    { name: 'rest', path: '/**' },
  ]
  writeFileSync(config, JSON.stringify({ workers: { command, health: '/health', concurrency: 8 }, routes }))
  return { ...(await startUp(t, '--config', config, ...args)), folder }
}

interface Raw {
  head: string
  body: string
  isDirect: boolean
}

/** The bytes of an answer, on a connection of its own. */
async function ask({ url }: Up, path: string, lines = '', method = 'GET', body = ''): Promise<Raw> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n${lines}\r\n${body}`)
  await once(socket, 'close')
  return parse(Buffer.concat(chunks).toString('latin1'))
}

function parse(text: string): Raw {
  const end = text.indexOf('\r\n\r\n')
  const head = text.slice(0, end)
  const rest = text.slice(end + 4)
  // Nothing is estimated, and nothing waits in a queue.
  const isDirect = /server-timing: estimate;dur=0\.000, queue;dur=0\.000,/.test(head)
  return { head, body: /^transfer-encoding: chunked/im.test(head) ? joined(rest) : rest, isDirect }
}

/** Where a body is divided into chunks is a matter of chance. Trailers stay. */
function joined(chunks: string): string {
  let body = ''
  for (let at = 0; ; ) {
    const start = chunks.indexOf('\r\n', at) + 2
    const size = Number.parseInt(chunks.slice(at, start), 16)
    // An answer without a body, to HEAD.
    if (Number.isNaN(size)) return chunks
    if (size === 0) return body + chunks.slice(start)
    body += chunks.slice(start, start + size)
    at = start + size + 2
  }
}

/** Without what differs from request to request. */
const comparable = ({ head, body }: Raw) => ({
  head: head.replaceAll(/^(plimsoll-job|plimsoll-work|server-timing|date): .*$/gim, '$1: -'),
  body: body.length > 1_000 ? `${body.length} ${hash('sha256', body)}` : body,
})

/** Until requests to this path are sent directly. */
async function warm(up: Up, path = '/small'): Promise<void> {
  const by = performance.now() + 120_000
  for (let count = 1; ; count++) {
    const { isDirect } = await ask(up, path)
    if (isDirect) return
    if (performance.now() > by) throw new Error(`${count} requests to ${path}, and none is sent directly`)
  }
}

interface Facts {
  pid: number
  seen: Record<string, number>
  aborted: Record<string, number>
}
const facts = async (up: Up) => JSON.parse((await ask(up, '/facts', general)).body) as Facts
const untilFacts = async (up: Up, isSo: (facts: Facts) => boolean, what: string) => {
  const by = performance.now() + 60_000
  while (!isSo(await facts(up)))
    if (performance.now() > by) throw new Error(`timed out waiting until ${what}`)
}
/** A header that is not passed on, and with which a request takes the general path. */
const general = 'te: trailers\r\n'

test('small requests are sent directly, and counted', limit, async (t) => {
  const up = await startServer(t, ...patient)
  const first = await ask(up, '/small')
  assert.equal(first.isDirect, false)
  await warm(up)
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
    const one = await ask(up, '/small')
    assert.ok(one.isDirect)
    const [, job = ''] = /^plimsoll-job: (.*)$/m.exec(one.head) ?? []
    const ledger = () => new DatabaseSync(join(up.dataDir, 'ledger.db'), { readOnly: true })
    await until(() => {
      using database = ledger()
      return database.prepare('SELECT 1 FROM jobs WHERE job = ?').get(job) !== undefined
    }, 'its row is written')
    const args = [cli, 'why', job, '--admin', up.adminUrl]
    const { promise, resolve } = Promise.withResolvers<string>()
    execFile(process.execPath, args, (_, stdout, stderr) => resolve(stdout + stderr))
    assert.match(await promise, /is unknown.*sent directly to a program have no story/s)
  })
})

const answers = [
  ...['/small', '/empty', '/same', '/missing', '/fault', '/zero', '/chunks', '/medium', '/close', '/headers'],
  ...['/small?a=b', '/chunks?%20'],
]
/** Only the general path can pass them on. */
const oddAnswers = [
  '/large',
  '/large-chunks',
  '/trailers',
  '/work',
  '/http10',
  '/until-closed',
  '/extension',
  '/early',
]

test('answers are the same on both paths', limit, async (t) => {
  const up = await startServer(t, ...patient)
  await warm(up)
  for (const method of ['GET', 'HEAD']) {
    for (const path of answers) {
      const [direct, other] = [await ask(up, path, '', method), await ask(up, path, general, method)]
      assert.deepEqual([direct.isDirect, other.isDirect], [true, false], `${method} ${path}`)
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
  // The first is sent twice.
  for (const path of oddAnswers) assert.equal(seen[path], 4, path)
  assert.ok((await ask(up, '/small')).isDirect)

  await t.test('bytes after an answer are no part of the next', async () => {
    for (let i = 0; i < 5; i++) {
      assert.equal((await ask(up, '/more')).body, 'more')
      assert.match((await ask(up, '/small')).body, /small/)
    }
  })

  await t.test('streams begin at once', async () => {
    for (const path of ['/events', '/dribble']) {
      const answer = await fetch(`${up.url}${path}`)
      const { value } = await answer.body!.getReader().read()
      assert.match(Buffer.from(value!).toString(), /first/)
    }
  })

  await t.test('requests with anything unusual take the general path', async () => {
    for (const lines of [
      ...['plimsoll-deadline: 60000', 'x-forwarded-for: 10.0.0.1', 'content-length: 0', 'upgrade: h2c'],
      ...['plimsoll-announce: job', 'forwarded: for=10.0.0.1', 'x_forwarded_host: h'],
    ]) {
      const { isDirect, head, body } = await ask(up, '/small', `${lines}\r\n`)
      assert.equal(isDirect, false, lines)
      assert.match(head + body, /200 OK.*small/s, lines)
    }
    const withBody = await ask(up, '/echo', 'content-length: 2\r\n', 'GET', 'hi')
    assert.deepEqual([withBody.isDirect, /hi/.test(withBody.body)], [false, true])
    const posted = await ask(up, '/echo', 'content-length: 2\r\n', 'POST', 'hi')
    assert.deepEqual([posted.isDirect, /hi/.test(posted.body)], [false, true])
    const expecting = await ask(up, '/echo', 'expect: 100-continue\r\ncontent-length: 2\r\n', 'PUT', 'hi')
    assert.match(expecting.head + expecting.body, /100 Continue.*200 OK.*hi/s)
    assert.match((await ask(up, '/a/../-/workloads')).body, /"rest"|routes/)
    assert.match((await ask(up, '/small\tx')).head, /^HTTP\/1\.1 400/)
    assert.match((await ask(up, '/small', 'host: again\r\n')).head, /^HTTP\/1\.1 400/)
  })

  await t.test('pipelined requests keep their order', async () => {
    const { hostname, port } = new URL(up.url)
    const socket = connect(Number(port), hostname)
    const paths = ['/slow?ms=300', '/small', '/medium', '/large', '/missing', '/small']
    const one = (path: string, more: string) => `GET ${path} HTTP/1.1\r\nhost: h\r\n${more}\r\n`
    const last = paths.length - 1
    socket.write(
      paths
        .map((path, i) => one(path, i === last ? 'connection: close\r\n' : i === 1 ? general : ''))
        .join(''),
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
  })

  await t.test('a client that disconnects cancels its request', async () => {
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
  })

  await t.test('a client that reads slowly does not delay others', async () => {
    const { hostname, port } = new URL(up.url)
    const sockets = Array.from({ length: 10 }, (_, i) => {
      const socket = connect(Number(port), hostname).pause()
      socket.write(`GET ${i % 2 ? '/medium' : '/large'} HTTP/1.1\r\nhost: h\r\n\r\n`)
      return socket
    })
    for (let i = 0; i < 20; i++) assert.match((await ask(up, '/small')).body, /small/)
    for (const socket of sockets) socket.destroy()
  })
})

test('no request fails when a program, a worker, a front or the brain is replaced', limit, async (t) => {
  const up = await startServer(t, ...patient, '--max', '2')
  await warm(up)
  const load = steadyLoad(`${up.url}/small`, 4, 'small')
  const further = async () => {
    const { answered } = load
    await until(() => load.answered > answered + 50, 'requests are answered')
  }
  await further()

  await t.test('a program is killed, and its requests in progress are repeated', async () => {
    const { pid, seen } = await facts(up)
    const waiting = Array.from({ length: 3 }, () => ask(up, '/gated?gate=killed'))
    await untilFacts(up, (now) => now.seen['/gated'] === (seen['/gated'] ?? 0) + 3, 'they have arrived')
    process.kill(pid, 'SIGKILL')
    await until(() => !isAlive(pid), 'it is dead')
    writeFileSync(join(up.folder, 'killed'), '')
    for (const { head, body } of await Promise.all(waiting)) assert.match(head + body, /200 OK.*opened/s)
    await further()
    assert.deepEqual(load.errors, [])
  })

  await t.test('workers are replaced', async () => {
    await restart(up, { fronts: false, workers: true })
    await further()
    assert.deepEqual(load.errors, [])
    await warm(up)
  })

  await t.test('the front is replaced', async () => {
    await restart(up, { fronts: true, workers: false })
    await further()
    assert.deepEqual(load.errors, [])
    await warm(up)
  })

  await t.test('the brain is killed; direct requests go on without it', async () => {
    const brain = up.brain()
    process.kill(brain, 'SIGKILL')
    await until(() => !isAlive(brain), 'it is dead')
    await further()
    await untilState(up, ({ ready }) => ready > 0, 'the brain is back')
    await further()
    await warm(up)
    assert.deepEqual(load.errors, [])
  })
  await load.stop()
  assert.deepEqual(load.errors, [])
})

async function restart({ adminUrl, dataDir }: Up, what: object): Promise<void> {
  const answer = await fetch(`${adminUrl}/api/restart`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${readFileSync(join(dataDir, 'tokens', 'operator'), 'utf8').trim()}`,
    },
    body: JSON.stringify(what),
  })
  assert.match(await answer.text(), /\{"done":true\}\n$/)
}

test('a route that becomes slow is no longer delegated', limit, async (t) => {
  const up = await startServer(t, '--direct-below', '100')
  await warm(up, '/slow?ms=0')
  // More than ten times as much. Reported while it is in progress.
  const slow = ask(up, '/slow?ms=3000')
  await untilState(up, ({ direct }) => !direct.names.includes('slow'), 'it is demoted')
  assert.match((await slow).body, /slow/)
  assert.equal((await ask(up, '/slow?ms=0')).isDirect, false)
})

test('with --direct-below 0 all requests take the general path', limit, async (t) => {
  const up = await startServer(t, '--direct-below', '0')
  for (let i = 0; i < 100; i++) assert.equal((await ask(up, '/small')).isDirect, false)
  assert.deepEqual((await up.state()).direct, { answered: 0, givenBack: 0, names: [] })
})
