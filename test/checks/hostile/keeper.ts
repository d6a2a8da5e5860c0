/** Clients that abuse kept jobs: too many, long keys, messages to inner networks, events that nobody reads, results that nobody fetches. */

import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../../support/hostile/innocents.ts'
import { rssMbOf } from '../../support/hostile/process-tree.ts'
import { dial, until } from '../../support/hostile/raw.ts'
import type { Experiment, Trial } from '../../support/hostile/trial.ts'
import type { Up } from '../../support/hostile/up.ts'

/** Apart from innocent clients, which have limits of their own. */
const attacker = '127.0.0.4'
const innocent = '127.0.0.2'

interface Kept {
  status: number
  body: string
  location: string
}

async function keep(
  up: Up,
  path: string,
  headers: Record<string, string> = {},
  localAddress = attacker,
): Promise<Kept> {
  const fields = { prefer: 'respond-async', ...headers }
  const answer = await exchange(up.url + path, 'POST', false, { headers: fields, localAddress })
  return { status: answer.status, body: answer.body, location: `${up.url}${answer.headers.location}` }
}

/** Hands jobs in one after another, and expects each result. Resolves with what was wrong. */
async function keepInnocently(up: Up, count: number): Promise<string[]> {
  const troubles: string[] = []
  for (let n = 0; n < count; n++) {
    const headers = { 'idempotency-key': `innocent-${n}`, prefer: 'wait=20' }
    const { status, body } = await keep(up, `/double?n=${n}`, headers, innocent)
    if (status !== 200 || body !== `${2 * n}`) troubles.push(`${status} ${body.slice(0, 200)}`)
  }
  return troubles
}

function checkStatuses(
  trial: Trial,
  what: string,
  answers: readonly Kept[],
  allowed: readonly number[],
): void {
  const odd = answers.filter(({ status }) => !allowed.includes(status))
  trial.check(odd.length === 0, `${what}: ${odd.length} got ${odd[0]?.status} ${odd[0]?.body.slice(0, 200)}`)
}

async function floodJobs(trial: Trial, up: Up): Promise<void> {
  const answers: Kept[] = []
  const hand = async () => {
    for (let i = 0; i < 16; i++) answers.push(await keep(up, '/spin?ms=50'))
  }
  let most = 0
  const flood = Promise.all(Array.from({ length: 25 }, hand))
  for (let isOver = false; !isOver; most = Math.max(most, await openJobs(up)))
    isOver = await Promise.race([flood.then(() => true), delay(200).then(() => false)])
  checkStatuses(trial, 'a flood of jobs', answers, [202, 429, 503])
  const accepted = answers.filter(({ status }) => status === 202).length
  trial.check(accepted >= 100, `${accepted} of 400 jobs of one client were accepted`)
  trial.check(most <= 100, `one client had ${most} open jobs`)
}

async function openJobs(up: Up): Promise<number> {
  const url = `${up.url}/-/jobs?state=open&limit=200`
  const { body } = await exchange(url, 'GET', false, { localAddress: attacker })
  return (JSON.parse(body) as { jobs: unknown[] }).jobs.length
}

async function oddKeys(trial: Trial, up: Up): Promise<void> {
  const keys = ['', ' ', 'a'.repeat(256), 'a'.repeat(8_000), '\u00e9', '"a', `"${'b'.repeat(300)}"`]
  for (const key of keys) {
    const headers = { 'idempotency-key': key }
    checkStatuses(trial, `the key ${key.slice(0, 20)}`, [await keep(up, '/double?n=1', headers)], [400, 431])
  }
  const many = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      keep(up, '/double?n=1', { 'idempotency-key': `${'k'.repeat(240)}-${i}` }),
    ),
  )
  checkStatuses(trial, 'long keys', many, [202, 429, 503])
}

/** Names of this machine and of inner networks, as attackers write them. */
const innerHosts = [
  ...[
    '127.0.0.1',
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '127.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
  ],
  ...['0.0.0.0', '0', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '10.0.0.1', '192.168.0.1'],
  ...[
    '169.254.169.254',
    '172.16.0.1',
    '100.64.0.1',
    '[fe80::1]',
    '[fd00::1]',
    'x@127.0.0.1',
    '[64:ff9b::7f00:1]',
  ],
]

async function innerWebhooks(trial: Trial, up: Up): Promise<void> {
  let connections = 0
  const inner = createServer((socket) => {
    connections++
    socket.on('error', () => {}).destroy()
  })
  await new Promise<void>((resolve) => inner.listen(0, resolve))
  trial.after(() => inner.close())
  const { port } = inner.address() as { port: number }
  const urls = innerHosts.map((host) => `http://${host}:${port}/hook`)
  for (const url of [...urls, 'file:///etc/passwd', 'gopher://x/', 'not a url', 'http://']) {
    const answer = await keep(up, '/double?n=1', { 'plimsoll-webhook': url })
    checkStatuses(trial, `a webhook to ${url.slice(0, 60)}`, [answer], [400, 422])
  }
  await delay(2_000)
  trial.check(connections === 0, `${connections} connections came to an inner address`)
}

async function followWithoutReading(trial: Trial, up: Up): Promise<void> {
  const { location, status } = await keep(up, '/nap?ms=3000', {}, innocent)
  trial.check(status === 202, `a job to follow got ${status}`)
  const { pathname } = new URL(location)
  for (let i = 0; i < 150; i++) {
    const socket = await dial(up.port, { localAddress: innocent })
    trial.after(() => socket.destroy())
    socket.pause()
    socket.write(`GET ${pathname}/events HTTP/1.1\r\nHost: x\r\n\r\n`)
  }
  await until(
    'the followed job is answered',
    async () => {
      const { body } = await exchange(location, 'GET', false, { localAddress: innocent })
      return body.includes('"answered"')
    },
    60_000,
  )
}

export const keeperAttacks: Experiment = {
  name: 'kept-jobs',
  about: '400 kept jobs of one client, odd keys, webhooks to inner addresses, 150 followers that never read',
  async run(trial) {
    const limits = ['--open-jobs', '200', '--open-share', '50']
    const up = await trial.start({ flags: [...limits, '--webhook-hosts', '*', '--max', '1', '--min', '1'] })
    const innocents = trial.innocents(up, { slowMs: 20_000 })
    await innocents.more(20)
    checkTroubles(trial, await keepInnocently(up, 5))
    await until('the keeper runs', () => up.keeper() !== undefined)
    const keeper = up.keeper()!.pid
    const restingMb = rssMbOf(keeper)
    await oddKeys(trial, up)
    await innerWebhooks(trial, up)
    await floodJobs(trial, up)
    const [troubles] = await Promise.all([keepInnocently(up, 10), followWithoutReading(trial, up)])
    checkTroubles(trial, troubles)
    await innocents.more(40)
    trial.check(up.keeper()?.pid === keeper, 'the keeper has died')
    const grown = rssMbOf(keeper) - restingMb
    trial.check(grown < 200, `the keeper has grown by ${grown.toFixed(0)} MB`)
  },
}

function checkTroubles(trial: Trial, troubles: readonly string[]): void {
  trial.check(troubles.length === 0, `${troubles.length} kept jobs of others failed: ${troubles[0]}`)
}

export const unfetchedResults: Experiment = {
  name: 'kept-results',
  about: '120 results of 1 MB that nobody fetches, with room for 8 MB and 40 jobs',
  limitMs: 200_000,
  inBackground: true,
  async run(trial) {
    const limits = ['--result-space', '8', '--ended-jobs', '40']
    const up = await trial.start({ flags: [...limits, '--max', '1', '--min', '1'] })
    const innocents = trial.innocents(up, { clients: 2, pauseMs: 100, slowMs: Infinity })
    await innocents.more(10)
    for (let i = 0; i < 12; i++) {
      const kept = await Promise.all(
        Array.from({ length: 10 }, () => keep(up, '/large?mb=1', { prefer: 'wait=30' })),
      )
      checkStatuses(trial, 'a large result', kept, [200, 202])
    }
    const jobs = async () => {
      const { body } = await exchange(`${up.url}/-/jobs?limit=200`, 'GET', false, { localAddress: attacker })
      return (JSON.parse(body) as { jobs: { state: string; answer?: { isKept: boolean } }[] }).jobs
    }
    // It is swept once a minute.
    await until(
      'old jobs are forgotten',
      async () => {
        const all = await jobs()
        return all.length <= 40 && all.filter(({ answer }) => answer?.isKept).length <= 8
      },
      100_000,
    )
    const left = await jobs()
    trial.check(left.length === 40, `${left.length} jobs are remembered`)
    await innocents.more(10)
  },
}
