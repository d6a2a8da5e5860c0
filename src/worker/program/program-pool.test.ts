/** How many programs there are, which of them gets a job, and that none is left behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import test, { type TestContext } from 'node:test'
import { stateOf, until } from '../slots/fixtures/use-pool.ts'
import { fixture, read, usePrograms } from './fixtures/use-programs.ts'

test('each job has a program to itself, one more is kept ready, and the surplus is ended', async (t) => {
  const { pool, start } = await usePrograms(t, {}, { surplusMs: 50, slots: 4 })
  const runs = ['a', 'b', 'c'].map(() => start('/hang'))
  await until(() => runs.every(({ pid }) => pid !== undefined), 'all run')
  assert.equal(new Set(runs.map(({ pid }) => pid)).size, 3)
  await until(() => pool.size === 4, 'one is ready')
  for (const run of runs) run.cancel()
  await Promise.all(runs.map((run) => run.ended))
  await until(() => pool.size === 1, 'the surplus is gone')
})

test('there are at most so many programs, and a job waits for one of them', async (t) => {
  const { pool, start, lines } = await usePrograms(t, {}, { slots: 2 })
  const runs = [start('/hang'), start('/hang')]
  const waits = start('/pid')
  await until(() => lines.filter((line) => line.endsWith('hangs')).length === 2, 'both run')
  assert.equal(pool.size, 2)
  assert.equal(waits.pid, undefined)
  runs[0]!.cancel()
  assert.equal((await read(waits)).kind, 'http')
})

test('jobs are packed onto programs that take several, the least busy first', async (t) => {
  const { pool, start } = await usePrograms(t, { concurrency: 2 }, { warm: 2, slots: 3 })
  await until(() => pool.size === 2, 'two are there')
  const runs = [1, 2, 3, 4].map(() => start('/hang'))
  await until(() => runs.every(({ pid }) => pid !== undefined), 'all run')
  const pids = runs.map(({ pid }) => pid)
  assert.equal(new Set(pids).size, 2)
  assert.equal(pids.filter((pid) => pid === pids[0]).length, 2)
  assert.equal(pool.size, 2)
  const fifth = start('/pid')
  assert.equal((await read(fifth)).kind, 'http')
  assert.ok(!pids.includes(fifth.pid))
})

test('a program that stopped to listen is replaced, and its job goes to another untouched', async (t) => {
  const script = `
    const server = require('http').createServer((q, s) => {
      let body = ''
      q.on('data', (chunk) => { body += chunk })
      q.on('end', () => s.end(body || String(process.pid)))
      if (q.url === '/deaf') server.close()
    }).listen(process.env.PORT)
    setInterval(() => {}, 1e6)`
  const { ask, lines } = await usePrograms(t, {
    command: [process.execPath, '-e', script],
    healthEveryMs: 1e6,
  })
  const pid = (await ask('/deaf')).body!
  const others = await Promise.all([ask('/'), ask('/'), ask('/')])
  assert.ok(others.every(({ kind, body }) => kind === 'http' && body !== pid))
  const deaf = /^slot 1: nothing listens on port \d+ any more/
  await until(() => lines.some((line) => deaf.test(line)), 'that is told')
})

async function killParent(t: TestContext, env: NodeJS.ProcessEnv): Promise<void> {
  const parent = spawn(process.execPath, [fixture('parent.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  t.after(() => parent.kill('SIGKILL'))
  const [line] = await Promise.race([once(parent.stdout, 'data'), once(parent, 'exit')])
  const { pids, socket } = JSON.parse(String(line)) as { pids: number[]; socket: string }
  assert.equal(pids.length, 4, 'a watchdog, a program that runs, one that is stopped, and a child')
  for (const pid of pids) assert.notEqual(stateOf(pid), undefined)
  assert.ok(existsSync(socket))
  parent.kill('SIGKILL')
  await until(() => pids.every((pid) => stateOf(pid) === undefined), 'no process is left')
  await until(() => !existsSync(dirname(socket)), 'the folder of the sockets is gone')
}

test('no program outlives a killed worker: running or stopped', (t) => killParent(t, {}))

test('the same where the system has no death signal to ask for', (t) =>
  killParent(t, { PATH: '/nowhere:/bin/none' }))

test('the program of a paused job goes on while the job in its place waits for one', async (t) => {
  const { start } = await usePrograms(t, {}, { slots: 1 })
  const paused = start('/spin?ms=1e9')
  await until(() => paused.cpuMs() > 5, 'the job runs')
  const waits = start('/pid')
  paused.pause()
  assert.equal(paused.paused, true)
  assert.notEqual(stateOf(paused.pid!), 'T')
  waits.cancel()
  await until(() => stateOf(paused.pid!) === 'T', 'it is stopped')
  paused.resume()
  await until(() => stateOf(paused.pid!) !== 'T', 'it goes on')
})
