/** Workers and fronts of another machine: they join over TLS, and attempts reach them over TLS. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { loadConfig } from '../src/config/load.ts'
import { sharedCache } from '../src/front/cache/shared-cache.ts'
import { WireError } from '../src/lib/errors.ts'
import { connectToBrain } from '../src/wire/connect.ts'
import { secureSocket } from '../src/wire/secure.ts'
import { newToken } from '../src/wire/token.ts'
import { startFront } from './support/front-processes.ts'
import {
  cli,
  fixtures,
  type Live,
  open,
  startLive,
  stopLive,
  until,
  untilIdle,
  useLive,
} from './support/live.ts'
import { writeJsonConfig } from './support/own-programs.ts'

/** Stands for another machine: the cluster's own processes use 127.0.0.1. */
const elsewhere = { host: '127.0.0.2', port: 0 }
const timeout = 120_000

// Without workers of its own, all jobs go to the others.
const live = useLive({ min: 0, max: 1, queue: 100, joinAddress: elsewhere, cacheBytes: 1_000_000 })

/** Starts `plimsoll worker` with its token in a file. Resolves when it has joined; disposing of it ends it. */
async function startWorker(cluster: Live, ...args: string[]): Promise<AsyncDisposable> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-elsewhere-'))
  const file = join(folder, 'token')
  writeFileSync(file, `${cluster.tokens.worker}\n`, { mode: 0o600 })
  const places = ['--join', cluster.joinUrl!, '--token-file', file, '--data', cluster.dataDir]
  const child = spawn(process.execPath, [cli, 'worker', ...places, '--id', 'far', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  await until(() => cluster.state().ready === 1 || child.exitCode !== null, 'the worker has joined')
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true })
      await until(() => cluster.state().workers.length === 0, 'the worker has left')
    },
  }
}

test('a worker of another machine runs jobs, with bodies and streams, and the cluster finds its address', {
  timeout,
}, async () => {
  assert.match(live.joinUrl!, /^tls:\/\/127\.0\.0\.2:\d+$/)
  await using _far = await startWorker(live, '--workloads', fixtures)
  const answer = await fetch(`${live.url}/strict?n=21`)
  assert.deepEqual([await answer.text(), answer.headers.get('plimsoll-worker')], ['42', 'far'])
  const body = Buffer.alloc(3_000_000, 'plimsoll')
  const mirrored = await fetch(`${live.url}/mirror`, { method: 'POST', body })
  assert.deepEqual(Buffer.from(await mirrored.arrayBuffer()), body)
  const flood = await fetch(`${live.url}/flood?mb=5`)
  assert.equal((await flood.arrayBuffer()).byteLength, 5 * 1024 * 1024)
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const each = await fetch(`${live.url}/strict?n=${n}`)
      assert.equal(await each.text(), `${2 * n}`)
    }),
  )
  await untilIdle(live)
})

test('a front of another machine serves clients and uses the cache of the cluster', {
  timeout,
}, async (t) => {
  await using _far = await startWorker(live, '--workloads', fixtures)
  const front = await startFront(t, { ...live, adminUrl: live.joinUrl! })
  const answer = await fetch(`${front.url}/strict?n=21`)
  assert.deepEqual([await answer.text(), answer.headers.get('plimsoll-worker')], ['42', 'far'])
  const gated = fetch(`${front.url}/gated?gate=far`)
  await until(() => live.state().placed === 1, 'it runs')
  open(live, 'far')
  assert.equal(await (await gated).text(), 'opened')
  const cache = sharedCache({
    ...{
      join: () => new URL(live.joinUrl!),
      token: live.tokens.front,
      mostBytes: 1_000_000,
      isUp: () => true,
    },
    limitMs: timeout,
  })
  t.after(() => cache.close())
  const key = createHash('sha256').update('question').digest('base64url')
  const kept = { status: 200, fields: {}, body: Buffer.from('kept') }
  cache.put(key, { answer: kept, account: {}, ageMs: 0 }, Infinity)
  let found = await cache.get(key)
  for (; !found; found = await cache.get(key));
  assert.equal(found.answer.body.toString(), 'kept')
})

const program = `
  const server = require('node:http').createServer((request, response) => response.end('plain'))
  server.on('upgrade', (request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nconnection: upgrade\\r\\nupgrade: echo\\r\\n\\r\\nhello ')
    socket.pipe(socket)
  })
  server.listen(process.argv[2], '127.0.0.1')
`

test('a worker of another machine serves an existing server, in any protocol', { timeout }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-own-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'program.cjs'), program)
  const config = writeJsonConfig(folder, {
    workers: { command: [process.execPath, 'program.cjs', '{port}'] },
  })
  const { own } = await loadConfig(config)
  const cluster = await startLive({ files: [], own: own!, config, min: 0, joinAddress: elsewhere }, false)
  t.after(() => stopLive(cluster))
  await using _far = await startWorker(cluster, '--config', config)
  assert.equal(await (await fetch(`${cluster.url}/`)).text(), 'plain')
  const { hostname, port } = new URL(cluster.url)
  const socket = connect(Number(port), hostname)
  socket.write('GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nbytes')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  await until(() => /hello bytes$/.test(text), 'bytes pass in both directions')
  socket.destroy()
})

const dial = (address: string, role: 'worker' | 'front', token: string) =>
  connectToBrain(
    new URL(address),
    { role, token },
    () => {},
    () => {},
  )

test('whatever is wrong, both sides are told, and nothing hangs', { timeout }, async () => {
  const { joinUrl, adminUrl, tokens } = live
  const plainJoin = joinUrl!.replace('tls:', 'http:')
  const secureAdmin = adminUrl.replace('http:', 'tls:')
  const wrong: [attempt: () => Promise<unknown>, told: RegExp, final: boolean][] = [
    [() => dial(joinUrl!, 'worker', newToken()), /the token is wrong$/, true],
    [() => dial(joinUrl!, 'worker', tokens.front), /the token is wrong$/, true],
    [() => dial(joinUrl!, 'front', tokens.operator), /the token is wrong$/, true],
    [
      () => dial(plainJoin, 'worker', tokens.worker),
      /this port requires TLS: join with tls:\/\/ in place of http:\/\/$/,
      false,
    ],
    [() => dial(secureAdmin, 'worker', tokens.worker), /it does not use TLS$/, false],
    [() => dial('tls://127.0.0.2:1', 'worker', tokens.worker), /ECONNREFUSED$/, false],
    [
      () => dial(adminUrl, 'front', tokens.worker),
      /this is the worker token; the front token is required$/,
      true,
    ],
  ]
  for (const [attempt, told, final] of wrong)
    await assert.rejects(attempt, (error) => {
      assert.ok(error instanceof WireError, String(error))
      assert.match(error.message, /^cannot join (tls|http):\/\/127\.0\.0\.\d:\d+: /)
      assert.match(error.message, told)
      assert.equal(error.final, final, error.message)
      return true
    })
  assert.ok(
    live.lines.some((line) => /^join: a connection from 127\.0\.0\.\d was refused: /.test(line)),
    live.lines.join('\n'),
  )
  const everything = live.lines.join('\n')
  for (const token of Object.values(tokens)) assert.ok(!everything.includes(token), 'no token is logged')
})

test('the join port serves neither the state nor a restart', { timeout }, async () => {
  const { hostname: host, port } = new URL(live.joinUrl!)
  for (const [method, path] of [
    ['GET', '/api/state'],
    ['POST', '/api/restart'],
  ]) {
    const call = request({
      ...{ method, path },
      headers: { authorization: `Bearer ${live.tokens.operator}` },
      createConnection: () =>
        secureSocket({ host, port: Number(port) }, { identity: 'worker', token: live.tokens.worker }),
    })
    call.end()
    const [response] = await once(call, 'response')
    response.resume()
    assert.equal(response.statusCode, 404)
    call.destroy()
  }
})
