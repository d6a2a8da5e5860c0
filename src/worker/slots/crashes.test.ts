import assert from 'node:assert/strict'
import test from 'node:test'
import { read, stateOf, until, usePool } from './testing/use-pool.ts'

test('a job that exits its process fails without affecting other jobs', async (t) => {
  const { start, ask } = await usePool(t, { warm: 2 })
  const other = start('spin', { n: 30 })
  const { kind, message } = await ask('quit')
  assert.equal(kind, 'crash')
  assert.match(message as string, /workload quit exited with code 3/)
  assert.equal((await read(other)).kind, 'result')
})

test('a job that breaks the connection of its slot has crashed it, and was not killed by somebody else', async (t) => {
  const { ask } = await usePool(t)
  const { kind, message } = await ask('garble')
  assert.deepEqual([kind, message], ['crash', 'the process of workload garble sent invalid messages'])
  assert.equal((await ask('echo')).kind, 'result')
})

for (const [workload, reason] of [
  ['quit', 'exited with code 3'],
  ['abort', 'was ended by SIGABRT'],
]) {
  test(`the log names the job and the workload ${workload} whose process ${reason}`, async (t) => {
    const { ask, lines } = await usePool(t)
    await ask(workload!)
    const told = lines.filter((line) => line.includes(reason!)).map((line) => line.replace(/^slot \d+, /, ''))
    assert.deepEqual(told, [`job job-1: the process of workload ${workload} ${reason}`])
  })
}

test('a job that is cancelled is not logged as a crash', async (t) => {
  const { start, lines } = await usePool(t)
  const run = start('spin')
  await until(() => run.progress !== undefined, 'the job runs')
  run.cancel()
  await run.ended
  await until(() => stateOf(run.pid!) === undefined, 'the slot has ended')
  assert.deepEqual(lines, [])
})

test('the log of an error names the workload, and shows no frames of Node or of the slot', async (t) => {
  const { ask, lines } = await usePool(t)
  await ask('fail')
  await until(() => lines.some((line) => line.includes('basic.ts')), 'the stack is logged')
  assert.match(lines[0]!, /workload fail: Error: no such thing/)
  const foreign = lines.filter((line) => /node:|slot-process/.test(line))
  assert.deepEqual(foreign, [])
})

test('a crashed process fails its own job, with the signal in the message', async (t) => {
  const { start, ask } = await usePool(t, { warm: 2 })
  const other = start('spin', { n: 30 })
  const { kind, message } = await ask('abort')
  assert.equal(kind, 'crash')
  assert.match(message as string, /was ended by SIGABRT/)
  assert.equal((await read(other)).kind, 'result')
})

test('an unhandled rejection is a crash with its message, and its stack is logged', async (t) => {
  const { ask, lines } = await usePool(t)
  const { kind, message } = await ask('reject')
  assert.equal(kind, 'crash')
  assert.match(message as string, /not handled/)
  assert.ok(lines.some((line) => line.includes('at fails')))
})

test('an error after the answer ends the slot, and the next job runs in another', async (t) => {
  const { start, ask } = await usePool(t)
  const run = start('reject', { late: true })
  assert.equal((await read(run)).body, 'answered')
  const pid = run.pid!
  await until(() => stateOf(pid) === undefined, 'the slot has ended')
  assert.equal((await ask('kinds', { kind: 'text' })).body, 'hällo')
})

test('a job whose slot ends before the job starts runs in another', async (t) => {
  const { start } = await usePool(t)
  const before = start('pid')
  await before.ended
  // Stopped, so that it cannot start the job.
  process.kill(before.pid!, 'SIGSTOP')
  const run = start('kinds', { kind: 'text' })
  assert.equal(run.pid, before.pid)
  process.kill(before.pid!, 'SIGKILL')
  assert.equal((await read(run)).body, 'hällo')
})

test('a slot killed by another process is reported as killed, not as a crash', async (t) => {
  const { start } = await usePool(t)
  const run = start('spin')
  await until(() => run.progress !== undefined, 'the job runs')
  process.kill(run.pid!, 'SIGKILL')
  const { kind, message } = await read(run)
  assert.equal(kind, 'killed')
  assert.match(message as string, /was ended by SIGKILL/)
  assert.ok((await run.ended).wallMs > 0)
})

test('an idle slot that ends is replaced', async (t) => {
  const { pool, start } = await usePool(t)
  const run = start('pid')
  await run.ended
  process.kill(run.pid!, 'SIGKILL')
  await until(() => stateOf(run.pid!) === undefined, 'the slot has ended')
  await until(() => pool.size === 1, 'another slot exists')
})

test('processes that a job started end with its slot', async (t) => {
  const { start } = await usePool(t)
  const run = start('family')
  const answer = await run.answer
  assert.ok(answer.kind === 'result')
  const [first] = await answer.body.take(1).toArray()
  run.cancel()
  await until(() => stateOf(Number(first)) === undefined, 'the child has ended')
})
