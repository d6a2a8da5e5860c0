/** Small jobs that misbehave, workers that end, and connections that break: every job is answered or given back. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { directProtocol, longestParams } from '../../src/wire/direct-frames.ts'
import { FrameWriter } from '../../src/wire/direct-writer.ts'
import { bearer } from '../../src/wire/token.ts'
import { fixture, until } from '../../src/worker/slots/testing/use-pool.ts'
import { type DirectWorld, token, useDirectWorld } from '../support/direct-world.ts'

const files = [join(import.meta.dirname, '../fixtures/small.ts')]
const givenBack = (reason: string) => ({ outcome: 'given-back', reason })

/** While a new slot starts on a busy machine, jobs may be given back for their time limit. */
async function untilAnswered({ call }: DirectWorld): Promise<void> {
  while ((await call('pid')).outcome !== 'result');
}

/** A harmful job with others behind it, all sent at once. Then a next job is answered. */
async function reasonsOf(world: DirectWorld, how: string): Promise<string[]> {
  const { call } = world
  await untilAnswered(world)
  const jobs = [call('bad', JSON.stringify({ how })), call('pid'), call('pid')]
  const outcomes = await Promise.all(jobs)
  await untilAnswered(world)
  return outcomes.map((answer) => (answer.outcome === 'given-back' ? answer.reason : answer.outcome))
}

/** Jobs behind one that ended its slot. A job that was sent after the slot had ended runs in the next one. */
function assertNotOfSlot(others: readonly string[]): void {
  assert.ok(
    others.every((reason) => ['slot-ended', 'result'].includes(reason)),
    `${others}`,
  )
}

for (const how of ['spin', 'wait']) {
  test(`a job that does not end is given back, and the jobs behind it: ${how}`, async (t) => {
    const world = await useDirectWorld(t, { files, limits: { slowMs: 50, firstMs: 50 } })
    const [first, ...others] = await reasonsOf(world, how)
    assert.equal(first, 'slow')
    assertNotOfSlot(others)
  })
}

for (const how of ['exit', 'kill', 'reject', 'grow']) {
  test(`a job that ends its slot is given back, and the jobs behind it: ${how}`, async (t) => {
    const world = await useDirectWorld(t, { files })
    const [first, ...others] = await reasonsOf(world, how)
    assert.equal(first, 'slot-ended')
    assertNotOfSlot(others)
  })
}

test('answers that are streamed or too long, and unknown workloads, are given back', async (t) => {
  const world = await useDirectWorld(t, { files })
  assert.deepEqual(await reasonsOf(world, 'stream'), ['streamed', 'result', 'result'])
  assert.deepEqual(await reasonsOf(world, 'large'), ['long-answer', 'result', 'result'])
  assert.deepEqual(await world.call('unknown'), givenBack('unsuited'))
  assert.deepEqual(await world.call('pid', '{"a":'), givenBack('params'))
  assert.deepEqual(await world.call('pid', `"${'a'.repeat(longestParams)}"`), givenBack('params'))
})

const changes = [
  'global',
  'prototype',
  'replaced',
  'json',
  'env',
  'unset',
  'cwd',
  'interval',
  'listener',
  'child',
]

for (const what of changes) {
  test(`a job that changes its process influences no other: ${what}`, async (t) => {
    const world = await useDirectWorld(t, { files: [fixture('changes.ts')] })
    const { call, general, lines } = world
    const expected = (await general('inspect', '{}')).answer!.body.toString()
    const jobs = await Promise.all([
      ...[call('inspect'), call('change', JSON.stringify({ what }))],
      ...Array.from({ length: 5 }, () => call('inspect')),
    ])
    for (const answer of [...jobs, await call('inspect')]) {
      if (answer.outcome === 'given-back') assert.equal(answer.reason, 'slot-ended')
      else if (answer.outcome === 'result' && answer.body.toString().startsWith('{')) {
        assert.equal(answer.body.toString(), expected)
      } else assert.equal(answer.outcome, 'result')
    }
    assert.ok(jobs.some(({ outcome }) => outcome === 'given-back'))
    // Among jobs of several workloads the check may not tell whose job it was; then that runs by the general path.
    await general('change', JSON.stringify({ what }))
    assert.equal(lines.filter((line) => line.includes('changed its process')).length, 1)
    assert.deepEqual(await call('change', JSON.stringify({ what })), givenBack('unsuited'))
    assert.equal((await call('inspect')).outcome, 'result')
  })
}

test('harmless jobs are not taken for harmful ones', async (t) => {
  const { call, lines } = await useDirectWorld(t, { files: [fixture('changes.ts')] })
  const harmless = [
    'nothing',
    'cache',
    'lazyGlobals',
    'unreferenced',
    'timer',
    'immediate',
    'symbol',
    'restored',
  ]
  const pids = new Set<string>()
  for (const what of [...harmless, 'printed', 'lateModule', 'closedServer', 'finishedChild']) {
    const both = [call('change', JSON.stringify({ what })), call('change', '{"what":"nothing"}')]
    for (const answer of await Promise.all(both)) {
      assert.ok(answer.outcome === 'result', `${what}: ${JSON.stringify(answer)}`)
      pids.add(answer.body.toString())
    }
  }
  assert.equal(pids.size, 1)
  assert.deepEqual(
    lines.filter((line) => line.includes('changed its process')),
    [],
  )
})

test('jobs of a worker that ends or drains are given back', async (t) => {
  const { link, call, door } = await useDirectWorld(t, { files })
  await call('pid')
  const running = call('bad', '{"how":"wait"}')
  await until(() => door.jobs.size === 1, 'the job runs')
  door.jobs.drain()
  assert.deepEqual(await call('pid'), givenBack('draining'))
  door.close()
  assert.ok(['draining', 'unreachable'].includes(((await running) as { reason: string }).reason))
  await until(() => !link.isOpen, 'the link is closed')
})

test('jobs on a connection that breaks are given back, and the next one opens another', async (t) => {
  const { link, call, newLink } = await useDirectWorld(t, { files })
  assert.equal(link.isOpen, false)
  await call('pid')
  assert.equal(link.isOpen, true)
  const other = newLink()
  const answer = new Promise((resolve) => {
    other.call({ workload: 'bad', params: '{"how":"wait"}', job: 'j' }, resolve)
  })
  await until(() => other.isOpen, 'the link is open')
  other.close()
  assert.deepEqual(await answer, givenBack('unreachable'))
  assert.equal(other.pending, 0)
  const late = new Promise((resolve) => other.call({ workload: 'pid', params: '{}', job: 'j' }, resolve))
  assert.deepEqual(await late, givenBack('unreachable'))
})

test('a job that waits can be cancelled; one that runs is answered', async (t) => {
  const { link, call, door } = await useDirectWorld(t, { files })
  await call('pid')
  const outcomes: unknown[] = []
  const ids = Array.from({ length: 200 }, () =>
    link.call({ workload: 'kinds', params: '{"kind":"later"}', job: 'j' }, (answer) => {
      outcomes.push(answer.outcome === 'given-back' ? answer.reason : answer.outcome)
    }),
  )
  link.cancel(ids.at(-1)!)
  link.cancel(ids[0]!)
  link.cancel(12345)
  await until(() => outcomes.length === 200, 'all are answered')
  assert.equal(outcomes.filter((each) => each === 'result').length, 199)
  assert.equal(outcomes.filter((each) => each === 'cancelled').length, 1)
  link.cancel(ids[0]!)
  assert.equal((await call('pid')).outcome, 'result')
  assert.equal(door.jobs.size, 0)
})

test('a front with a wrong token gets no link, and its jobs are given back at once', async (t) => {
  const { newLink, lines } = await useDirectWorld(t, { files })
  const stranger = newLink({ token: 'guessed' })
  const call = () =>
    new Promise((resolve) => void stranger.call({ workload: 'pid', params: '{}', job: 'j' }, resolve))
  assert.deepEqual(await call(), givenBack('unreachable'))
  assert.deepEqual(await call(), givenBack('unreachable'))
  assert.deepEqual(lines, ['direct link to worker w: refused with status 401'])
})

test('malformed frames close their connection only', async (t) => {
  const { address, call, door } = await useDirectWorld(t, { files })
  const open = async (): Promise<Socket> => {
    const headers = { authorization: bearer(token), connection: 'upgrade', upgrade: directProtocol }
    const [, socket] = await once(request({ ...address, path: '/attempt', headers }).end(), 'upgrade')
    return socket.on('error', () => {})
  }
  const job = () => {
    const writer = new FrameWriter()
    writer.job(1, { workload: 'pid', job: 'j', params: '{}' })
    return Buffer.from(writer.take())
  }
  const answer = () => {
    const writer = new FrameWriter()
    writer.giveBack(1, 'slow')
    return writer.take()
  }
  const badNames = job()
  badNames.writeUInt16LE(5_000, 9)
  const badKind = job()
  badKind[4] = 9
  for (const bytes of [Buffer.alloc(64, 0xff), Buffer.alloc(64), answer(), badNames, badKind]) {
    const socket = await open()
    const closed = once(socket.resume(), 'close')
    socket.write(bytes)
    await closed
    assert.equal((await call('pid')).outcome, 'result')
  }
  // A connection that breaks within a frame.
  const socket = await open()
  socket.write(job().subarray(0, 11))
  socket.destroy()
  assert.equal((await call('pid')).outcome, 'result')
  assert.equal(door.jobs.size, 0)
})
