/** Processes that leave the process group of their slot end with it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import type { JobRun } from '../job-run.ts'
import { Marks, markName } from '../processes/marks.ts'
import { killOrphans } from '../processes/stragglers.ts'
import { fixture, stateOf, until, usePool } from './testing/use-pool.ts'

const files = [fixture('changes.ts')]

/** Kills it even if the test fails. */
function endWith(t: TestContext, pid: number): void {
  t.after(() => {
    if (stateOf(pid) !== undefined) process.kill(pid, 'SIGKILL')
  })
}

async function escapedFrom(t: TestContext, run: JobRun): Promise<number> {
  const answer = await run.answer
  const [text] = answer.kind === 'result' ? await answer.body.take(1).toArray() : []
  const pid = Number(String(text))
  assert.ok(pid > 0)
  endWith(t, pid)
  assert.notEqual(stateOf(pid), undefined)
  await until(() => groupOf(pid) === pid, 'it has left its group')
  return pid
}

/** Its process group; undefined: it has ended. */
function groupOf(pid: number): number | undefined {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!
    return Number(afterName.split(' ')[2])
  } catch {
    return undefined
  }
}

test('a process that left its group and its parent ends when its job is cancelled', async (t) => {
  const { start } = await usePool(t, { files })
  const run = start('escape')
  const pid = await escapedFrom(t, run)
  run.cancel()
  await until(() => stateOf(pid) === undefined, 'it has ended')
})

test('a process that left its group and its parent ends when its slot is killed', async (t) => {
  const { start } = await usePool(t, { files })
  const run = start('escape')
  const pid = await escapedFrom(t, run)
  process.kill(run.pid!, 'SIGKILL')
  await until(() => stateOf(pid) === undefined, 'it has ended')
})

test('a process that left its group and its parent ends with the pool', async (t) => {
  const { pool, start } = await usePool(t, { files })
  const pid = await escapedFrom(t, start('escape'))
  await pool.close()
  await until(() => stateOf(pid) === undefined, 'it has ended')
})

test('what a dead worker left behind is ended, and what live workers started is kept', async (t) => {
  const { prefix } = new Marks()
  const [namespace, pid, , pool] = prefix.split('-')
  const marks = [`${prefix}1`, `${namespace}-${pid}-1-${pool}1`, `1-${pid}-1-${pool}1`]
  const [live, orphan, elsewhere] = marks.map((mark) => {
    const child = spawn('sleep', ['1000'], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, [markName]: mark },
    })
    t.after(() => child.kill('SIGKILL'))
    return child
  })
  await once(elsewhere!, 'spawn')
  const ended = once(orphan!, 'exit')
  assert.ok((await killOrphans()) >= 1)
  assert.deepEqual(await ended, [null, 'SIGKILL'])
  assert.notEqual(stateOf(live!.pid!), undefined)
  assert.notEqual(stateOf(elsewhere!.pid!), undefined)
})
