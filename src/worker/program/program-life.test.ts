/** Programs from their start to their end, and programs that fail to start. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import test from 'node:test'
import { stateOf, until } from '../slots/testing/use-pool.ts'
import { ProgramOutput } from './program-output.ts'
import { fixture, oneLiner, usePrograms } from './testing/use-programs.ts'

const logged = (lines: string[], pattern: RegExp) =>
  until(() => lines.some((line) => pattern.test(line)), `${pattern}`)

/** Advances only when the test says so, so that a slow machine causes no timeouts. */
function stoppedClock() {
  let time = 0
  return {
    now: () => time,
    pass(ms: number) {
      time += ms
    },
  }
}

test('a program starts on its own port, and answers', async (t) => {
  const { ask, lines } = await usePrograms(t, { health: '/health' })
  const { kind, body } = await ask('/pid')
  assert.equal(kind, 'http')
  assert.notEqual(stateOf(Number(body)), undefined)
  assert.deepEqual(lines, ['slot 1: starts'])
})

test('a program without {port} in its command uses PORT', async (t) => {
  const { ask } = await usePrograms(t, { command: [process.execPath, fixture('server.mjs')] })
  assert.equal((await ask('/health')).head?.status, 204)
})

test('a program can listen on a Unix socket, which is removed with it', async (t) => {
  const { ask, pool } = await usePrograms(t, {
    command: [process.execPath, fixture('server.mjs'), '--socket', '{socket}'],
    env: { GREETING: 'hello' },
  })
  const pid = (await ask('/pid')).body!
  const [, path] = /--socket\0([^\0]+)/.exec(await commandLine(pid))!
  assert.ok(existsSync(path!))
  await pool.close()
  assert.ok(!existsSync(dirname(path!)))
  assert.equal(stateOf(Number(pid)), undefined)
})

async function commandLine(pid: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(`/proc/${pid}/cmdline`, 'utf8')
}

test('a program that listens only on the other loopback address is found there', async (t) => {
  const script = `require('http').createServer((q, s) => s.end('six')).listen(process.env.PORT, '::1')`
  const { ask } = await usePrograms(t, { command: oneLiner(script) })
  assert.equal((await ask('/')).body, 'six')
})

test('a job waits for a program that is slow to start', async (t) => {
  const script = `setTimeout(() => require('http').createServer((q, s) => s.end('late')).listen(process.env.PORT), 300)`
  const { ask } = await usePrograms(t, { command: oneLiner(script) }, { warm: 0 })
  assert.equal((await ask('/')).body, 'late')
})

test('a program that exits at once is reported with its last line, and restarted with backoff', async (t) => {
  const script = `console.error('no database at db:5432'); process.exit(1)`
  const { ask, lines } = await usePrograms(t, { command: oneLiner(script), startMs: 1_000 }, stoppedClock())
  await logged(
    lines,
    /^slot 1: exited at once with code 1 \(last line: no database at db:5432\); next try in 500 ms$/,
  )
  await logged(lines, /; next try in 1 s$/)
  assert.ok(lines.includes('slot 1: no database at db:5432'))
  const { kind, message } = await ask('/')
  assert.equal(kind, 'unready')
  assert.match(
    message!,
    /^waited 1 s for a program: none is healthy; slot 1: exited at once with code 1 \(last line: no data/,
  )
})

test('a command that does not exist is reported', async (t) => {
  const { lines } = await usePrograms(
    t,
    { command: ['no-such-program', '{port}'], startMs: 300 },
    stoppedClock(),
  )
  await logged(lines, /^slot 1: (exited at once|could not be started).*no-such-program/)
})

test('a program that listens on another port is reported with that port', async (t) => {
  const script = `const s = require('http').createServer().listen(0, '127.0.0.1', () => console.log('mine is', s.address().port))`
  const clock = stoppedClock()
  const { lines, ask } = await usePrograms(t, { command: oneLiner(script), startMs: 1_500 }, clock)
  await logged(lines, /mine is/)
  clock.pass(1_500)
  await logged(lines, /^slot 1: nothing listens on port \d+ after 1.5 s; it listens on/)
  const line = lines.find((line) => line.includes('; it listens on'))!
  const port = /mine is (\d+); next/.exec(line)![1]
  assert.match(
    line,
    new RegExp(`; it listens on port ${port}; its command has no \\{port\\}, and it ignores PORT;`),
  )
  assert.match(line, /its last line: mine is \d+; next try in \d/)
  assert.match((await ask('/')).message!, /nothing listens on port/)
})

test('a program that does not become healthy is reported with its answer, and restarted', async (t) => {
  const script = `require('http').createServer((q, s) => { console.log('request'); s.writeHead(503).end() }).listen(process.env.PORT)`
  const clock = stoppedClock()
  const settings = { command: oneLiner(script), health: '/health', startMs: 1_500 }
  const { lines, pool } = await usePrograms(t, settings, clock)
  await logged(lines, /request/)
  clock.pass(1_500)
  await logged(
    lines,
    /^slot 1: not healthy after 1.5 s: GET \/health answered 503; its last line: request; next try in \d/,
  )
  await until(() => pool.size === 1, 'it is restarted')
})

test('a health check without an answer, or with an invalid one, is reported', async (t) => {
  const hangs = `require('http').createServer((q) => q.on('close', () => console.log('left'))).listen(process.env.PORT)`
  const garbage = `require('net').createServer((s) => { console.log('request'); s.end('nonsense\\r\\n\\r\\n') }).listen(process.env.PORT)`
  const clock = stoppedClock()
  const first = await usePrograms(t, { command: oneLiner(hangs), health: '/up', startMs: 1_500 }, clock)
  await logged(first.lines, /left/)
  clock.pass(1_500)
  await logged(first.lines, /not healthy after 1.5 s: GET \/up had no answer within/)
  const second = await usePrograms(t, { command: oneLiner(garbage), health: '/up', startMs: 1_500 }, clock)
  await logged(second.lines, /request/)
  clock.pass(1_500)
  await logged(second.lines, /not healthy after 1.5 s: GET \/up failed: Parse Error/)
})

test('a program that does not exist is named as the cause', async (t) => {
  const settings = { command: ['./no-such-program', '{port}'], startMs: 1_000 }
  const { lines } = await usePrograms(t, settings, stoppedClock())
  await logged(lines, /^slot 1: could not be started: .*no-such-program.*; next try in 500 ms$/)
})

test('a program that a request crashed is replaced at once, so that such requests do not delay others', async (t) => {
  const { ask, lines } = await usePrograms(t, { concurrency: 4 }, stoppedClock())
  for (let i = 0; i < 3; i++) assert.equal((await ask('/exit')).kind, 'crash')
  assert.equal((await ask('/pid')).kind, 'http')
  const ends = lines.filter((line) => line.includes('exited'))
  assert.deepEqual(ends, Array(3).fill('slot 1: exited with code 3 (last line: the end)'))
})

test('a program that had to start is restarted with backoff once it was healthy', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-once-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const script = `require('fs').mkdirSync('once')
    require('http').createServer((q, s) => s.end(String(process.pid))).listen(process.env.PORT)`
  const settings = { command: oneLiner(script), cwd: folder }
  const { ask, lines } = await usePrograms(t, settings, { mustStart: true })
  process.kill(Number((await ask('/')).body), 'SIGKILL')
  await logged(lines, /exited at once with code 1 .*; next try in 1 s$/)
})

test('an idle program that is killed is replaced in the same slot', async (t) => {
  const clock = stoppedClock()
  const { ask, lines, pool } = await usePrograms(t, {}, clock)
  const pid = Number((await ask('/pid')).body)
  await until(() => pool.size === 1 || pool.size === 2, 'a program exists')
  clock.pass(60_000)
  process.kill(pid, 'SIGKILL')
  await logged(lines, /^slot 1: was ended by SIGKILL \(its last line, 60 s before, was: starts\)/)
  const other = await ask('/pid')
  assert.equal(other.kind, 'http')
  assert.notEqual(Number(other.body), pid)
})

test('an idle program that becomes unhealthy is ended after three checks and restarted', async (t) => {
  const { ask, lines } = await usePrograms(t, { health: '/health', healthEveryMs: 20 })
  await ask('/sicken')
  await logged(lines, /^slot \d: no longer healthy: GET \/health answered 503, 3 times in a row/)
  assert.equal((await ask('/health')).head?.status, 204)
})

test('the output of a program is limited in length and rate', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: string[] = []
  const output = new ProgramOutput(
    (line) => lines.push(line),
    () => 0,
  )
  const print = async (text: string) => {
    const stream = Readable.from([Buffer.from(text)])
    output.read(stream)
    await finished(stream)
  }
  await print(`${'x'.repeat(5000)}\n`)
  await print('line\n'.repeat(50_000))
  assert.equal(lines[0], `${'x'.repeat(2000)}…`)
  assert.equal(lines.length, 200)
  t.mock.timers.tick(1000)
  assert.equal(lines.at(-1), '(49801 more lines dropped: more than 200 per second)')
  await print('one more\n')
  output.close()
  assert.deepEqual(lines.slice(201), ['one more'])
})

test('processes that a program started end with it, also if it exits by itself', async (t) => {
  const { start, ask } = await usePrograms(t)
  for (const end of ['/exit', 'cancel']) {
    const run = start('/family')
    const answer = await run.answer
    assert.ok(answer.kind === 'http')
    const [child] = await answer.body.take(1).toArray()
    assert.notEqual(stateOf(Number(child)), undefined)
    if (end === 'cancel') run.cancel()
    else process.kill(run.pid!, 'SIGTERM')
    await until(() => stateOf(Number(child)) === undefined, 'the child has ended')
    await run.ended
  }
  assert.equal((await ask('/health')).kind, 'http')
})
