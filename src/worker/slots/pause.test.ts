import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { isStopped, read, stateOf, until, usePool } from './testing/use-pool.ts'

test('a paused job makes no progress until it is resumed', async (t) => {
  const { start, ask } = await usePool(t)
  const run = start('spin')
  await until(() => run.cpuMs() > 5, 'the job runs')
  run.pause()
  run.pause()
  await until(() => isStopped(run.pid!), 'it is stopped')
  const before = run.cpuMs()
  assert.equal(run.paused, true)
  await ask('spin', { n: 20 })
  assert.equal(run.cpuMs(), before)
  run.resume()
  run.resume()
  assert.equal(run.paused, false)
  await until(() => run.cpuMs() > before, 'it continues')
})

test('a pause does not change the answer, and is not part of the CPU time', async (t) => {
  const { start, ask } = await usePool(t)
  const run = start('spin', { n: 40 })
  let hasEnded = false
  void run.ended.then(() => {
    hasEnded = true
  })
  // On a fast machine the job may end before the first poll.
  await until(() => hasEnded || run.cpuMs() > 5, 'the job runs')
  run.pause()
  await until(() => hasEnded || isStopped(run.pid!), 'it is stopped')
  const before = run.cpuMs()
  const plain = await ask('spin', { n: 40 })
  assert.equal(run.cpuMs(), before)
  run.resume()
  assert.equal((await read(run)).body, plain.body)
  const { cpuMs } = await run.ended
  assert.equal(run.cpuMs(), cpuMs)
})

test('a job that is paused before it has a slot starts when it is resumed', async (t) => {
  const { start, ask } = await usePool(t, { warm: 0 })
  const run = start('kinds', { kind: 'text' })
  run.pause()
  assert.equal((await ask('echo')).kind, 'result')
  assert.equal(run.pid, undefined)
  run.resume()
  assert.equal((await read(run)).body, 'hällo')
})

test('a paused job keeps running until the job that preempts it has a slot, and slots that boot are not stopped', async (t) => {
  const { start } = await usePool(t)
  const first = start('spin')
  await until(() => first.cpuMs() > 1, 'the job runs')
  const second = start('spin')
  first.pause()
  assert.equal(second.pid, undefined)
  await until(() => {
    if (second.pid === undefined) assert.equal(isStopped(first.pid!), false)
    return second.pid !== undefined
  }, 'the second job has a slot')
  await until(() => isStopped(first.pid!), 'the first job is stopped')
  await until(() => second.cpuMs() > 1, 'the second job runs')
  first.cancel()
  second.cancel()
  await Promise.all([first.ended, second.ended])
})

test('a job waits for the slot of a job that ends before another slot would have booted', async (t) => {
  const { pool, start } = await usePool(t, { warm: 0 })
  // The first slot fills the cache and is not reused; the second one's boot is measured.
  await start('echo').ended
  await start('echo').ended
  const job = { attempt: 1, workload: 'spin', params: { n: 5 } }
  const first = pool.start({ ...job, job: 'first', remainingMs: () => 0 })
  await until(() => first.pid !== undefined, 'it has a slot')
  const second = pool.start({ ...job, job: 'second' })
  await second.ended
  assert.equal(second.pid, first.pid)
})

test('cancelling a running job ends its process, and its cost is reported', async (t) => {
  const { start, ask } = await usePool(t)
  const run = start('spin')
  await until(() => run.progress === 0.25 && run.cpuMs() > 5, 'the job runs')
  run.cancel()
  run.cancel()
  assert.deepEqual(await run.answer, { kind: 'cancelled' })
  const { cpuMs, peakMemoryMb } = await run.ended
  assert.ok(cpuMs > 5 && peakMemoryMb > 10)
  assert.equal(stateOf(run.pid!), undefined)
  assert.equal((await ask('echo')).kind, 'result')
})

test('a job can be cancelled while it is paused, or before it has loaded', async (t) => {
  const { start } = await usePool(t)
  const paused = start('spin')
  await until(() => paused.cpuMs() > 1, 'the job runs')
  paused.pause()
  const early = start('spin')
  for (const run of [paused, early]) {
    run.cancel()
    await run.ended
    assert.deepEqual(await run.answer, { kind: 'cancelled' })
  }
  assert.equal(stateOf(paused.pid!), undefined)
  assert.equal(early.pid, undefined)
})

test('a job can be paused and cancelled inside a native call', async (t) => {
  const { start } = await usePool(t)
  const run = start('native')
  await until(() => run.progress === 0.5 && run.cpuMs() > 5, 'the call runs')
  run.pause()
  await until(() => isStopped(run.pid!), 'it is stopped')
  run.resume()
  run.cancel()
  await run.ended
  assert.equal(stateOf(run.pid!), undefined)
})

test('a pause has no effect in an uninterrupted section, and the end of the section is reported', async (t) => {
  const { pool } = await usePool(t)
  const body = new PassThrough()
  const run = pool.start({ job: 'j', attempt: 1, workload: 'guarded', params: {}, body })
  const changes: boolean[] = []
  run.onInterruptible = () => changes.push(run.interruptible)
  await until(() => !run.interruptible, 'the section begins')
  run.pause()
  assert.equal(run.paused, false)
  body.write('leave the section')
  await until(() => run.interruptible, 'the section ends')
  assert.equal(run.progress, 0.5)
  run.pause()
  await until(() => isStopped(run.pid!), 'it is stopped')
  run.resume()
  body.end('and end')
  assert.equal((await read(run)).body, 'done')
  assert.deepEqual(changes, [false, true])
})

test('an uninterrupted section requested during a pause begins after the pause', async (t) => {
  const { pool } = await usePool(t)
  const body = new PassThrough()
  const run = pool.start({ job: 'j', attempt: 1, workload: 'guarded', params: {}, body })
  run.pause()
  await until(() => isStopped(run.pid!), 'it is stopped')
  body.end('leave the section')
  assert.equal(run.interruptible, true)
  run.resume()
  assert.equal((await read(run)).body, 'done')
  assert.equal(run.interruptible, true)
})
