import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { fixture, read, usePool } from './testing/use-pool.ts'

const files = [fixture('eaters.ts')]
const memoryMb = 160

for (const eater of ['heap', 'typed', 'single', 'string', 'json']) {
  test(`a job that exceeds its memory limit (${eater}) is ended, and other jobs are answered`, async (t) => {
    const { pool, ask, lines } = await usePool(t, { files, memoryMb, warm: 2 })
    const bodies = [new PassThrough(), new PassThrough()]
    const beside = bodies.map((body, i) =>
      pool.start({ job: `beside-${i}`, attempt: 1, workload: 'patient', params: {}, body }),
    )
    const { kind, message } = await ask(eater)
    assert.equal(kind, 'limit', message as string)
    assert.match(message as string, /it used \d+ MB, and a job may use 160 MB$/)
    assert.ok(Number(/used (\d+)/.exec(message as string)![1]) > 40)
    for (const body of bodies) body.end('four')
    for (const run of beside) assert.equal((await read(run)).body, '4')
    const reports = lines.filter(
      (line) => !line.endsWith(`the process of workload ${eater} ran out of memory`),
    )
    assert.deepEqual(reports, [], 'the fatal report of the runtime is not logged')
    assert.equal((await ask('some')).body, '60')
  })
}

test('a job that allocates much and keeps little is not ended', async (t) => {
  const { ask } = await usePool(t, { files, memoryMb })
  assert.equal((await ask('garbage')).body, 'object')
})

test('the memory peak of a job does not include earlier jobs of its slot', async (t) => {
  const { start } = await usePool(t, { files, memoryMb: 1024 })
  const large = start('some')
  const { peakMemoryMb } = await large.ended
  assert.ok(peakMemoryMb > 100)
  // The runtime returns memory late; a peak that is never reset would never fall.
  let lowest = peakMemoryMb
  for (let i = 0; i < 50 && lowest >= peakMemoryMb; i++) {
    lowest = Math.min(lowest, (await start('shrink').ended).peakMemoryMb)
  }
  assert.ok(lowest < peakMemoryMb, `${lowest} MB after ${peakMemoryMb} MB`)
})
