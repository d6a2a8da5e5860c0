/** Cached answers, and requests that share one job, in a live cluster. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { statusText } from '../../src/cli/status.ts'
import { cable, startFront } from '../support/front-processes.ts'
import { dial, open, problemOf, until, untilIdle, useLive, workerPid } from '../support/live.ts'

const live = useLive({
  files: [join(import.meta.dirname, '..', 'fixtures', 'repeats.ts')],
  cacheBytes: 8 * 1024 * 1024,
  coalesce: true,
})

const cache = () => live.state().cache!
const accepted = () => live.state().counters.accepted
const ask = (path: string, init?: RequestInit) => fetch(`${live.url}/${path}`, init)
const json = (value: unknown) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})
const said = (answer: Response) => answer.headers.get('plimsoll-cache')

async function untilShared(requests: number, during: () => void): Promise<void> {
  const before = cache().shared
  during()
  await until(() => cache().shared === before + requests, `${requests} requests share a job`)
}

test('equal concurrent requests share one job, later ones are hits, however their parameters are passed', async () => {
  const before = accepted()
  const writings: [string, RequestInit?][] = [
    ['gated?gate=same&n=2'],
    ['gated?n=2&gate=same'],
    ['gated?n=02&gate=same'],
    ['gated', json({ n: 2, gate: 'same' })],
    ['gated?n=2', json({ gate: 'same' })],
  ]
  let asked: Promise<Response>[] = []
  await untilShared(4, () => {
    asked = writings.map(([path, init]) => ask(path, init))
  })
  open(live, 'same')
  const answers = await Promise.all(asked)
  const texts = new Set(await Promise.all(answers.map((answer) => answer.text())))
  const [job] = texts
  assert.equal(texts.size, 1)
  assert.deepEqual(answers.map(said).sort(), [null, 'shared', 'shared', 'shared', 'shared'])
  for (const { headers } of answers) {
    assert.equal(headers.get('plimsoll-job'), job)
    assert.equal(headers.get('plimsoll-attempts'), '1')
    assert.ok(Number(headers.get('plimsoll-work')) > 0)
  }
  const { hits } = cache()
  for (const [path, init] of writings) {
    const again = await ask(path, init)
    assert.deepEqual([said(again), await again.text()], ['hit', job])
    assert.match(again.headers.get('age') ?? '', /^\d+$/)
    assert.equal(again.headers.get('plimsoll-job'), job)
  }
  const head = await ask('gated?gate=same&n=2', { method: 'HEAD' })
  assert.deepEqual([said(head), await head.text()], ['hit', ''])
  assert.equal(cache().hits, hits + 6)
  assert.equal(accepted(), before + 1)
})

test('bodies that differ only at their end have different answers', async () => {
  for (const bytes of [100, 200_000, 1_500_000]) {
    const bodies = ['a', 'b'].map((end) => Buffer.concat([Buffer.alloc(bytes), Buffer.from(end)]))
    const send = (body: Buffer) => ask('digest', { method: 'POST', body: new Uint8Array(body) })
    for (const expected of [null, 'hit']) {
      const answers = await Promise.all(bodies.map(send))
      for (const [i, answer] of answers.entries()) {
        assert.equal(said(answer), expected)
        assert.equal(await answer.text(), createHash('sha256').update(bodies[i]!).digest('hex'))
      }
    }
  }
})

test('a job goes on when the first client hangs up, and is cancelled when the last one does', async () => {
  const [first, second] = [dial(live), dial(live)]
  const { cancelled } = live.state().counters
  const request = 'GET /gated?gate=left HTTP/1.1\r\nHost: x\r\n\r\n'
  first.write(request)
  await until(() => live.state().jobs === 1, 'the job has arrived')
  await untilShared(1, () => second.write(request))
  let follower: Promise<Response> | undefined
  await untilShared(1, () => {
    follower = ask('gated?gate=left')
  })
  first.destroy()
  second.destroy()
  await new Promise((resolve) => second.once('close', resolve))
  open(live, 'left')
  assert.equal(said(await follower!), 'shared')
  assert.equal(live.state().counters.cancelled, cancelled)

  const last = [dial(live), dial(live)]
  await untilShared(1, () => {
    for (const socket of last) socket.write('GET /gated?gate=never HTTP/1.1\r\nHost: x\r\n\r\n')
  })
  for (const socket of last) socket.destroy()
  await untilIdle(live)
  assert.equal(live.state().counters.cancelled, cancelled + 1)
})

test('an error of the workload is shared, but not cached', async () => {
  const before = accepted()
  let asked: Promise<Response>[] = []
  await untilShared(1, () => {
    asked = [ask('gated?gate=error&ends=refuse'), ask('gated?gate=error&ends=refuse')]
  })
  open(live, 'error')
  for (const answer of asked) assert.equal((await problemOf(answer, 422)).detail, 'not like this')
  await problemOf(ask('gated?gate=error&ends=refuse'), 422)
  assert.equal(accepted(), before + 2)
})

test('a client may ask for a new or unshared answer, and a workload may forbid caching', async () => {
  open(live, 'wish')
  const get = async (value?: string, path = 'gated?gate=wish') => {
    const answer = await ask(path, value === undefined ? {} : { headers: { 'cache-control': value } })
    return [said(answer), await answer.text()]
  }
  const [, old] = await get()
  const [how, renewed] = await get('no-cache')
  assert.equal(how, null)
  assert.notEqual(renewed, old)
  assert.deepEqual(await get(), ['hit', renewed])
  assert.equal((await get('no-store'))[0], null)
  assert.deepEqual(await get(), ['hit', renewed])
  for (let i = 0; i < 2; i++) assert.equal((await get(undefined, 'gated?gate=wish&ends=fleeting'))[0], null)
})

test('an answer is cached for the lifetime that its workload sets, and never if it is not deterministic', async () => {
  const [first, second] = [await ask('read'), await ask('read')]
  const job = await first.text()
  assert.deepEqual([said(second), await second.text()], ['hit', job])
  let answer = second
  const renewed = async () => {
    answer = await ask('read')
    return (await answer.text()) !== job
  }
  while (!(await renewed())) assert.equal(said(answer), 'hit')
  for (let i = 0; i < 2; i++) assert.equal(said(await ask('read?write=1')), null)
})

test('a request that shares a job gets a 504 at its own deadline, and the others get the answer', async () => {
  const patient = ask('gated?gate=time')
  await until(() => live.state().placed === 1, 'it runs')
  const hasty = await problemOf(ask('gated?gate=time', { headers: { 'plimsoll-deadline': '50' } }), 504)
  assert.equal(hasty.code, 'deadline')
  assert.equal(hasty.headers.get('plimsoll-cache'), 'shared')
  open(live, 'time')
  assert.equal(hasty.headers.get('plimsoll-job'), await (await patient).text())
})

test('a large shared answer is complete for all, even while one client does not read it', async () => {
  const before = accepted()
  const idle = dial(live)
  idle.write('GET /flood?kb=3072 HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => accepted() > before, 'the first has arrived')
  await assertWhole(3072)
  idle.destroy()
  // Larger than answers that are shared.
  await assertWhole(6144)
  await untilIdle(live)
})

async function assertWhole(kb: number): Promise<void> {
  const expected = Buffer.alloc(kb * 1024, 'plimsoll')
  const read = async () => Buffer.from(await (await ask(`flood?kb=${kb}`)).arrayBuffer())
  for (const bytes of await Promise.all([read(), read(), read()])) assert.ok(bytes.equals(expected))
}

test('an answer that breaks off is aborted for all clients, and not cached', async () => {
  const before = cache().entries
  for (const kb of [128, 1024]) {
    let answers: Promise<Response>[] = []
    await untilShared(1, () => {
      answers = [1, 2].map(() => ask(`flood?kb=${kb}&throws=yes&gate=breaks-${kb}`))
    })
    open(live, `breaks-${kb}`)
    for (const answer of answers) {
      const { headers } = await problemOf(answer, 500)
      assert.equal(headers.get('plimsoll-attempts'), '1')
    }
  }
  const long = await Promise.allSettled(
    [1, 2].map(async () => (await ask('flood?kb=6144&throws=yes')).arrayBuffer()),
  )
  for (const { status } of long) assert.equal(status, 'rejected')
  assert.equal(cache().entries, before)
  await untilIdle(live)
})

test('after a worker dies in the middle of a shared answer, all clients get the complete answer', async () => {
  let asked: Promise<Response>[] = []
  await untilShared(1, () => {
    asked = [1, 2].map(() => ask('flood?kb=1024&stops=midway&gate=both'))
  })
  open(live, 'both')
  await until(() => existsSync(join(live.dataDir, 'midway')), 'most of it has arrived')
  process.kill(workerPid(), 'SIGKILL')
  for (const answer of await Promise.all(asked)) {
    assert.equal(answer.headers.get('plimsoll-attempts'), '2')
    assert.equal(answer.headers.get('content-length'), `${1024 * 1024}`)
    assert.equal((await answer.arrayBuffer()).byteLength, 1024 * 1024)
  }
})

test('TI-3 an answer computed for one front is a hit at another front, from the cache of the coordinator', async (t) => {
  const workloads = ['--workloads', join(import.meta.dirname, '..', 'fixtures', 'repeats.ts')]
  const way = await cable(t, live.adminUrl)
  const [one, other] = await Promise.all([
    startFront(t, live, ...workloads),
    startFront(t, { ...live, adminUrl: way.url }, ...workloads),
  ])
  const askAt = async (url: string, path: string, init?: RequestInit) => {
    const answer = await fetch(`${url}/${path}`, init)
    const { status, headers } = answer
    const [job, age] = [headers.get('plimsoll-job'), headers.get('age')]
    return { status, how: said(answer), job, age, bytes: (await answer.arrayBuffer()).byteLength }
  }
  open(live, 'tiers')
  const { hits } = cache()
  /** Storing and fetching are asynchronous, and a front waits only briefly for either, so a hit may take several tries. */
  const assertCrosses = async (from: string, to: string, path: string) => {
    const began = performance.now()
    for (;;) {
      const computed = await askAt(from, path, { headers: { 'cache-control': 'no-cache' } })
      assert.equal(computed.how, null)
      const before = accepted()
      const found = await askAt(to, path)
      if (found.how === 'hit' && found.job === computed.job) {
        assert.equal(found.bytes, computed.bytes)
        assert.match(found.age ?? '', /^\d+$/)
        return assert.equal(accepted(), before)
      }
      assert.ok(performance.now() - began < 15_000, 'no hit at the other front')
    }
  }
  for (const path of ['gated?gate=tiers', 'flood?kb=960&n=tiers']) {
    await assertCrosses(one.url, other.url, path)
    await assertCrosses(one.url, live.url, path)
    await assertCrosses(live.url, other.url, path)
  }
  assert.ok(cache().hits >= hits + 6)

  const alone = { headers: { 'cache-control': 'no-store' } }
  const own = [await askAt(one.url, 'gated?gate=tiers', alone), await askAt(one.url, 'read?write=1')]
  for (const { how } of [...own, await askAt(other.url, 'read?write=1')]) assert.equal(how, null)

  // Without a coordinator, the request is held, like any other, and answered later.
  way.cut()
  await until(() => /unreachable/.test(other.said()), 'the front has lost the coordinator')
  const held = askAt(other.url, 'gated?gate=tiers')
  way.mend()
  assert.equal((await held).status, 200)
})

test('the status sums up the cache in one line', () => {
  const { hits, shared } = cache()
  assert.ok(hits > 0 && shared > 0)
  const line = new RegExp(`^cache +${hits} hits, .* answers, .* MB of 8.00 MB; ${shared} shared a job$`, 'm')
  assert.match(statusText(live.state()), line)
})

test('the cache stays within its size, and evicts the least recently used answer', async () => {
  for (let n = 0; n < 12; n++) {
    await (await ask(`flood?kb=960&n=${n}`)).arrayBuffer()
    const first = await ask('flood?kb=960&n=0')
    assert.equal(said(first), 'hit')
    await first.arrayBuffer()
    assert.ok(cache().bytes <= cache().mostBytes)
  }
  const dropped = await ask('flood?kb=960&n=1')
  assert.equal(said(dropped), null)
  await dropped.arrayBuffer()
})
