/** Broken programs: each failure is explained in words, and the cluster keeps running. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { describe } from 'node:test'
import { problemOf, storyOf, until } from '../support/live.ts'
import { ownOf, programs } from '../support/own-programs.ts'

const node = process.execPath
const server = join(import.meta.dirname, '..', '..', 'src', 'worker', 'program', 'fixtures', 'server.mjs')
const workers = { command: [node, server, '--port', '{port}'], health: '/health' }

const broken: [what: string, workers: object, said: RegExp][] = [
  ['exits at once', { command: [node, '-e', 'throw Error("no {port}")'] }, /exited at once with code 1/],
  [
    'does not exist',
    { command: ['no-such-program', '{port}'] },
    /could not be started: .*(no-such-program.*No such file|ENOENT)/,
  ],
  [
    'listens elsewhere',
    {
      command: [node, '-e', 'require("http").createServer().listen(0, "127.0.0.1"); "{port}"'],
      startMs: 1500,
    },
    /nothing listens on port \d+ after 1\.5 s; it listens on port \d+/,
  ],
  [
    'is never healthy',
    { command: workers.command, health: '/nothing-here', startMs: 1500 },
    /not healthy after 1\.5 s: GET \/nothing-here answered 404/,
  ],
  [
    'answers garbage',
    {
      command: [node, '-e', 'require("net").createServer((s) => s.end("hm\\r\\n\\r\\n")).listen({port})'],
      health: '/health',
      startMs: 1500,
    },
    /not healthy after 1\.5 s: GET \/health failed/,
  ],
  [
    'hangs',
    {
      command: [node, '-e', 'require("net").createServer(() => {}).listen({port})'],
      health: '/health',
      startMs: 1500,
    },
    /not healthy after 1\.5 s: GET \/health had no answer/,
  ],
]

describe('a broken program', { concurrency: true }, () => {
  for (const [what, given, said] of broken)
    test(`that ${what} is logged and retried later, and requests are rejected without its output`, async (t) => {
      const live = await ownOf(t, { workers: { startMs: 2000, ...given } }, {}, false)
      await until(() => live.state().workers.length > 0, 'its worker has joined')
      assert.equal((await fetch(`${live.url}/-/health`)).status, 200)
      const { detail, code, headers } = await problemOf(fetch(`${live.url}/`, { method: 'DELETE' }), 503)
      assert.equal(code, 'unready')
      assert.match(
        detail,
        /^No program was healthy in \d+ attempts?\. The operator can see why with: plimsoll why/,
      )
      const story = await storyOf(live, headers)
      assert.match(story, /waited .* for a program/)
      assert.match(story, said)
      await until(() => live.lines.some((line) => /next try in/.test(line)), 'a retry is announced')
      assert.ok(live.lines.some((line) => said.test(line)))
    })
})

test('a route whose program crashes, hangs or answers garbage leaves the others alone', async (t) => {
  const live = await ownOf(t, {
    workers,
    routes: [
      { name: 'hang', path: '/hang', deadlineMs: 300 },
      { name: 'rest', path: '/**' },
    ],
  })
  const well = async () => assert.equal(await (await fetch(`${live.url}/raw`)).text(), 'raw')
  await well()
  const exits = problemOf(fetch(`${live.url}/exit`), 502)
  await well()
  const crashed = await exits
  assert.doesNotMatch(crashed.detail, /exited/)
  assert.match(await storyOf(live, crashed.headers), /exited with code 3/)
  const garbage = problemOf(fetch(`${live.url}/garbage`), 502)
  await well()
  assert.match(await storyOf(live, (await garbage).headers), /invalid HTTP response/)
  const hangs = problemOf(fetch(`${live.url}/hang`), 504)
  await well()
  assert.equal((await hangs).code, 'deadline')
  const exitsOnce = problemOf(fetch(`${live.url}/exit`, { method: 'POST' }), 502)
  assert.equal((await exitsOnce).code, 'outcome-unknown')
  await well()
  assert.ok(programs('server.mjs').length > 0)
})
