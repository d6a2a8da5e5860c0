/** Requests that a front and a server behind it might read differently. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { exchange } from '../../support/hostile/innocents.ts'
import { dial, talk, until } from '../../support/hostile/raw.ts'
import type { Experiment, Trial } from '../../support/hostile/trial.ts'
import { judge, type Played, play, turns } from '../../support/hostile/tricks/play.ts'
import { strictRequests } from '../../support/hostile/tricks/strict-requests.ts'
import { tricks } from '../../support/hostile/tricks/table.ts'
import type { Up, UpOptions } from '../../support/hostile/up.ts'

/** How many are played at once. */
const players = 32
/** No request is slow enough for the general path, not even on a busy machine. */
const patient = ['--direct-below', '1000']

const get = (target: string, fields = '') =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`

interface Seen {
  url: string
  rawHeaders: string[]
}

function seenIn(file: string): Seen[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Seen)
}

/** Resolves when small requests on kept connections take the fast path. */
async function untilFast(up: Up): Promise<void> {
  const socket = await dial(up.port)
  let text = ''
  socket.setEncoding('latin1').on('data', (part: string) => {
    text += part
  })
  const isFast = async () => {
    text = ''
    socket.write('GET /double?n=21 HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('it is answered', () => text.endsWith('42'))
    return /server-timing: estimate;dur=0\.000, queue;dur=0\.000,/i.test(text)
  }
  try {
    await until('small requests are sent directly', isFast, 60_000)
  } finally {
    socket.destroy()
  }
}

/** Plays every trick in every turn. */
async function playAll(up: Up): Promise<Played[]> {
  const all = tricks.flatMap((trick, i) => turns.map((turn) => ({ trick, turn, id: `t${i}-${turn}` })))
  const played: Played[] = []
  const next = async () => {
    for (let each = all.pop(); each; each = all.pop())
      played.push(await play(up.port, each.trick, each.turn, each.id))
  }
  await Promise.all(Array.from({ length: players }, next))
  return played
}

async function trickAll(trial: Trial, options: UpOptions, file: string): Promise<Up> {
  const up = await trial.start({ ...options, flags: patient })
  const innocents = trial.innocents(up, { slowMs: Infinity })
  await innocents.more(20)
  await untilFast(up)
  const played = await playAll(up)
  await untilFast(up)
  await innocents.more(20)
  const ids = seenIn(join(up.folder, file)).map(
    ({ url }) => new URL(url, 'http://x').searchParams.get('id') ?? '',
  )
  for (const each of played) {
    const wrong = judge(each, ids)
    trial.check(wrong === undefined, `${each.trick.name} (${each.turn}): ${wrong}`)
  }
  return up
}

export const smuggling: Experiment = {
  name: 'smuggling',
  about: `${tricks.length} ambiguous requests to an existing server, each on both paths, dot segments and forged proxy headers`,
  async run(trial) {
    const up = await trickAll(trial, { server: { concurrency: 8, recordsBytes: true } }, 'seen')
    await talk(up.port, get('/files/./a/../b/%2e%2e/seen?x=1'))
    const forgedFields = 'X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\nX-Forwarded-Host: evil\r\n'
    await talk(up.port, get('/seen?forged', forgedFields))
    const seen = seenIn(join(up.folder, 'seen'))
    trial.check(
      seen.some(({ url }) => url === '/files/seen?x=1'),
      `dot segments: ${seen.map(({ url }) => url).find((url) => url.includes('x=1'))}`,
    )
    const forged = seen.find(({ url }) => url === '/seen?forged')
    trial.check(
      forged !== undefined && !/6\.6\.6\.6|evil/.test(forged.rawHeaders.join()),
      `forged headers were passed on: ${forged?.rawHeaders}`,
    )
    checkBytes(trial, join(up.folder, 'bytes'), seen.length)
  },
}

/** A server that reads less strictly than this one would have seen the same requests. */
function checkBytes(trial: Trial, folder: string, requests: number): void {
  let count = 0
  for (const name of readdirSync(folder)) {
    try {
      count += strictRequests(readFileSync(join(folder, name), 'latin1')).length
    } catch (error) {
      trial.check(false, `to the server: ${(error as Error).message}`)
    }
  }
  trial.check(count >= requests, `${count} requests were sent to the server, and it saw ${requests}`)
}

export const smugglingToWorkloads: Experiment = {
  name: 'smuggling-to-jobs',
  about: `${tricks.length} ambiguous requests to workloads, each on both paths`,
  async run(trial) {
    const up = await trickAll(trial, {}, join('.plimsoll', 'seen'))
    const health = await exchange(`${up.url}/-/health`, 'GET', false)
    trial.check(health.status === 200, `afterwards the health is ${health.status}`)
  },
}
