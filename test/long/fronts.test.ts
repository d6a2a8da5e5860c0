/** Fronts in separate processes: what clients see, and what happens to requests when a front or the brain fails. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { servingOf } from '../../src/live/serving.ts'
import { connectToBrain } from '../../src/wire/connect.ts'
import type { FromFront, FrontHello, FrontWelcome, ToFront } from '../../src/wire/front-messages.ts'
import { wireVersion } from '../../src/wire/messages.ts'
import type { Frame } from '../../src/wire/session.ts'
import { newToken } from '../../src/wire/token.ts'
import { cable, startFront } from '../support/front-processes.ts'
import {
  cli,
  fixtures,
  keptBodies,
  open,
  problemOf,
  startLive,
  until,
  untilIdle,
  useLive,
} from '../support/live.ts'

const live = useLive({
  slots: 20,
  queue: 20,
  // Their own grace period, that of a stop, does not apply to fronts that are replaced.
  fronts: { count: 2, command: [process.execPath, cli, 'front', '--leave-after', '0'] },
})

const credential = () => ({ role: 'front', token: live.tokens.front }) as const

/** The parts of an answer that must not depend on the front. */
async function seen(url: string, path: string, init: RequestInit = {}) {
  const answer = await fetch(`${url}${path}`, { ...init, headers: { connection: 'close', ...init.headers } })
  const headers = Object.fromEntries(answer.headers)
  const received = Buffer.from(await answer.arrayBuffer()).toString('latin1')
  const body = received.replaceAll(headers['plimsoll-job'] ?? /$^/g, 'ID')
  const timing = headers['server-timing']?.replaceAll(/[\d.]+/g, 'N')
  for (const name of ['date', 'plimsoll-job', 'server-timing']) delete headers[name]
  return { status: answer.status, headers, timing, body }
}

test('clients see the same at every front', async (t) => {
  const far = await startFront(t, live)
  const paths = [
    '/echo?a=1',
    '/strict?n=x',
    '/strict?n=4',
    '/nowhere',
    '/fail?status=422',
    '/fail',
    '/rude',
    '/once',
    '/flood?mb=1',
    '/-/workloads',
    '/-/health',
    '/-/ready',
    '/-/nothing',
  ]
  for (const path of paths) {
    // The first request trains estimates and fills caches.
    await seen(live.url, path)
    assert.deepEqual(await seen(far.url, path), await seen(live.url, path), path)
  }
  const body = Buffer.alloc(2_000_000, 'x')
  for (const url of [live.url, far.url]) {
    const { status, body: mirrored } = await seen(url, '/mirror', { method: 'POST', body })
    assert.deepEqual([status, mirrored.length], [200, body.length])
  }
  const late = await problemOf(
    fetch(`${far.url}/gated?gate=never`, { headers: { 'plimsoll-deadline': '50' } }),
    504,
  )
  assert.match(late.code, /deadline|no-time/)
  const quote = (await (await fetch(`${far.url}/-/estimate/strict?n=4`)).json()) as Record<string, unknown>
  assert.deepEqual([quote.source, quote.work], ['memo', 16])
  await problemOf(fetch(`${far.url}/-/estimate/strict?n=x`), 400)
  await until(() => keptBodies().length === 0, 'no body is left')
  await untilIdle(live)
  assert.ok(live.state().fronts.find(({ url }) => url === far.url)!.accepted > 5)
})

test('a killed front loses its own requests, and no others', async () => {
  const all = Array.from({ length: 12 }, () =>
    fetch(`${live.url}/gated?gate=killed`).then(
      (answer) => answer.text(),
      () => 'broken',
    ),
  )
  await until(() => live.state().jobs === 12, 'all have arrived')
  const fronts = live.state().fronts.filter(({ state }) => state === 'ready')
  // Fronts with a separate address do not share the cluster's port.
  const own = fronts.slice(1).filter(({ url }) => url === undefined)
  const victim = own.sort((a, b) => b.inHand - a.inHand)[0]!
  process.kill(victim.pid, 'SIGKILL')
  await until(() => live.state().jobs === 12 - victim.inHand, 'its jobs are withdrawn, and no others')
  open(live, 'killed')
  const answers = await Promise.all(all)
  assert.equal(answers.filter((answer) => answer === 'broken').length, victim.inHand)
  assert.equal(answers.filter((answer) => answer === 'opened').length, 12 - victim.inHand)
  await until(
    () => live.state().fronts.filter(({ state }) => state === 'ready').length === 3,
    'a replacement has joined',
  )
})

test('fronts are replaced while requests run, which finish at the old ones', {
  timeout: 60_000,
}, async () => {
  const headers = { connection: 'close' }
  const all = Array.from({ length: 12 }, () => fetch(`${live.url}/gated?gate=rolled`, { headers }))
  await until(() => live.state().jobs === 12, 'all have arrived')
  const atFronts = live.state().fronts.filter(({ id }) => id !== 'main')
  const inHand = atFronts.reduce((sum, front) => sum + front.inHand, 0)
  const steps = await Array.fromAsync(live.restart({ fronts: true, workers: false }))
  const finishing = steps.map((step) => ('finishing' in step && step.finishing) || 0)
  assert.equal(steps.length, 2)
  assert.equal(
    finishing.reduce((sum, count) => sum + count, 0),
    inHand,
  )
  assert.equal(await (await fetch(`${live.url}/strict?n=1`, { headers })).text(), '2')
  open(live, 'rolled')
  const answers = await Promise.all(all.map(async (answer) => (await answer).text()))
  assert.deepEqual(answers, Array(12).fill('opened'))
  await until(() => live.state().fronts.length === 3, 'the old ones have left')
})

test('while the connection to the brain is cut, requests are held; afterwards they continue', async (t) => {
  const way = await cable(t, live.adminUrl)
  const far = await startFront(t, { ...live, adminUrl: way.url }, '--hold', '600')
  const running = fetch(`${far.url}/gated?gate=cut`)
  await until(() => live.state().placed === 1, 'it runs')
  way.cut()
  await until(() => far.said().includes('held'), 'the front has noticed')
  // The job ends before the brain can be told.
  open(live, 'cut')
  const held = Array.from({ length: 21 }, (_, i) => fetch(`${far.url}/strict?n=${i}`))
  const refused = await problemOf(Promise.race(held), 503)
  assert.equal(refused.code, 'no-brain')
  assert.match(refused.headers.get('retry-after')!, /^[123]$/)
  way.mend()
  const answer = await running
  assert.equal(await answer.text(), 'opened')
  assert.equal(answer.headers.get('plimsoll-attempts'), '1')
  const answers = await Promise.all(held)
  assert.equal(answers.filter(({ status }) => status === 200).length, 20)
  await untilIdle(live)
})

test('a request without a reachable brain is rejected after a timeout, and the brain is told later', async (t) => {
  const way = await cable(t, live.adminUrl)
  const far = await startFront(t, { ...live, adminUrl: way.url }, '--hold', '0.2')
  const running = fetch(`${far.url}/gated?gate=refused`)
  await until(() => live.state().placed === 1, 'it runs')
  way.cut()
  await until(() => far.said().includes('held'), 'the front has noticed')
  const late = fetch(`${far.url}/echo`, { headers: { 'plimsoll-deadline': '1' } })
  assert.equal((await problemOf(fetch(`${far.url}/echo`), 503)).code, 'no-brain')
  assert.equal((await problemOf(running, 503)).code, 'no-brain')
  assert.equal((await problemOf(late, 504)).code, 'deadline')
  assert.equal((await fetch(`${far.url}/-/ready`)).status, 503)
  way.mend()
  await untilIdle(live)
  assert.equal(await (await fetch(`${far.url}/strict?n=1`)).text(), '2')
  open(live, 'refused')
})

test('a failure with a very long message reaches its client, and little of it is remembered', async (t) => {
  const far = await startFront(t, live)
  for (const url of [live.url, far.url]) {
    const { detail, headers } = await problemOf(fetch(`${url}/fail?status=400&words=2000000`), 400)
    assert.equal(detail.length, 6_000_000)
    const why = await fetch(`${live.adminUrl}/api/jobs/${headers.get('plimsoll-job')}/why`)
    assert.equal(why.status, 200)
    assert.ok((await why.text()).length < 50_000, 'the story contains the whole message')
  }
  assert.doesNotMatch(far.said(), /held/)
  assert.equal(await (await fetch(`${far.url}/strict?n=1`)).text(), '2')
})

function joinWith(options: string[], token = live.tokens.front): Promise<{ code: number; said: string }> {
  const args = [cli, 'front', '--join', live.adminUrl, '--port', '0', ...options]
  return new Promise((resolve) => {
    const env = { ...process.env, PLIMSOLL_FRONT_TOKEN: token }
    execFile(process.execPath, args, { timeout: 60_000, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    )
  })
}

test('a front with a wrong token, other code, another protocol or a taken name is rejected with the reason', async () => {
  const wrong = await joinWith(['--workloads', fixtures], newToken())
  assert.equal(wrong.code, 2)
  assert.match(wrong.said, /cannot join .*: the token is wrong; the front token is required/)
  const other = await joinWith(['--workloads', fixtures], live.tokens.worker)
  assert.equal(other.code, 2)
  assert.match(other.said, /cannot join .*: this is the worker token; the front token is required/)
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-other-'))
  try {
    const file = join(dir, 'other.ts')
    writeFileSync(file, "export default { name: 'echo', description: '', run: () => 1 }\n")
    const { code, said } = await joinWith(['--workloads', file])
    assert.equal(code, 2)
    assert.match(said, /its code of workload \S+ differs: the cluster has \w+, the front /)
  } finally {
    rmSync(dir, { recursive: true })
  }
  const answerTo = async (hello: Pick<FrontHello, 'version' | 'id'> & Partial<FrontHello>) => {
    const told = Promise.withResolvers<unknown>()
    const url = new URL(live.adminUrl)
    const line = await connectToBrain<FrontWelcome, FrontHello>(url, credential(), told.resolve, () => {})
    line.send({ type: 'front', pid: 1, code: {}, received: 0, ...hello })
    const answer = await told.promise
    line.close()
    return answer
  }
  const message = `it speaks version 0 of the protocol; this is version ${wireVersion}`
  assert.deepEqual(await answerTo({ version: 0, id: 'old' }), { type: 'refused', message })
  const { id } = live.state().fronts[1]!
  assert.deepEqual(await answerTo({ version: wireVersion, id }), {
    type: 'refused',
    message: `a front ${id} is here already`,
  })
  const { pid } = live.state().fronts[1]!
  assert.deepEqual(
    await answerTo({ version: wireVersion, id, pid, instance: 'its twin in another container' }),
    { type: 'refused', message: `a front ${id} is here already` },
  )
  const { joining } = await servingOf({ files: [fixtures] })
  const code = { ...joining, cinema: '1', circus: '2' }
  assert.deepEqual(await answerTo({ version: wireVersion, id: 'more', code }), {
    type: 'refused',
    message: 'the cluster lacks its workload cinema, circus; deploy the same version to both',
  })
})

test('a request that the brain cannot accept is rejected, and its front stays', async (t) => {
  const { joining: code } = await servingOf({ files: [fixtures] })
  const heard: ToFront[] = []
  const line = await connectToBrain<Frame<ToFront>, FrontHello | Frame<FromFront>>(
    new URL(live.adminUrl),
    credential(),
    ({ m }) => m && heard.push(m),
    () => {},
  )
  t.after(() => line.cut())
  line.send({ type: 'front', version: wireVersion, id: 'odd', pid: 1, code: { ...code }, received: 0 })
  const asked = { workload: 'cinema', key: 'k', features: {} }
  line.send({ n: 1, a: 0, m: { type: 'arrived', job: 'odd-1', ...asked, params: {}, hasBody: false } })
  line.send({ n: 2, a: 0, m: { type: 'ask', ask: 7, about: asked } })
  line.send({ n: 3, a: 0, m: { type: 'ask', ask: 8, about: { ...asked, workload: 'echo' } } })
  await until(() => heard.some((message) => message.type === 'quote' && message.ask === 8), 'all is answered')
  const problem = {
    status: 404,
    code: 'unknown-workload',
    message: 'There is no workload cinema any more.',
    headers: {},
  }
  const answers = heard.filter(({ type }) => type === 'abandon' || type === 'quote')
  assert.deepEqual(answers.slice(0, 2), [
    { type: 'abandon', job: 'odd-1', problem },
    { type: 'quote', ask: 7, problem },
  ])
  assert.equal(live.state().fronts.find(({ id }) => id === 'odd')?.inHand, 0)
  line.send({ n: 4, a: 0, m: { type: 'left' } })
  await until(() => live.state().fronts.every(({ id }) => id !== 'odd'), 'it has left')
})

test('a second cluster on the same port is rejected, although fronts share the port', async () => {
  await assert.rejects(
    startLive({ port: Number(new URL(live.url).port), fronts: { count: 1, command: [] } }, false),
    /--port = \d+: is in use; choose another/,
  )
})
