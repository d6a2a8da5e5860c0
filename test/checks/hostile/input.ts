/** Requests that are too large, too slow, malformed or not allowed. */

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exchange } from '../../support/hostile/innocents.ts'
import { openFiles, rssMbOf } from '../../support/hostile/process-tree.ts'
import { dial, manyConnections, statusesOf, talk, until } from '../../support/hostile/raw.ts'
import type { Experiment } from '../../support/hostile/trial.ts'
import type { Up } from '../../support/hostile/up.ts'

const json = { 'content-type': 'application/json' }

/** Just below the limit of bodies. */
function unknownKeys(bytes: number): Buffer {
  const parts: string[] = []
  for (let i = 0, length = 0; length < bytes - 64; i++) {
    const part = `"unknown-key-${i}":${i}`
    parts.push(part)
    length += part.length + 1
  }
  return Buffer.from(`{${parts.join(',')}}`)
}

export const largeJson: Experiment = {
  name: 'large-json',
  about: '16 MB of JSON with unknown keys, three times, and a quote for it',
  async run(trial) {
    const body = unknownKeys(16 * 1024 * 1024)
    const up = await trial.start()
    const innocents = trial.innocents(up, { slowMs: Infinity })
    const pace = await trial.pace(up)
    await innocents.more(20)
    pace.begin()
    const paths = ['/double', '/double', '/tally', '/-/estimate/double']
    const answers = await Promise.all(
      paths.map((path) => exchange(up.url + path, 'POST', false, { body, headers: json, timeoutMs: 30_000 })),
    )
    for (const { status, body } of answers) {
      trial.check([400, 413].includes(status), `${status} ${body.slice(0, 200)}, not 400 or 413`)
      trial.check(body.length < 16_384, `an answer of ${body.length} bytes`)
    }
    await innocents.more(40)
    await pace.rounds(20)
  },
}

/** Temporary files of bodies, open or by name. */
function bodyFiles(up: Up): string[] {
  const open = up.processes().flatMap(({ pid }) => openFiles(pid))
  const named = readdirSync(join(up.folder, 'tmp'))
  return [...open, ...named].filter((name) => name.includes('plimsoll-body'))
}

export const uploads: Experiment = {
  name: 'uploads',
  about:
    '800 uploads of 1 MB that stop just before their end, 200 heads that never end, and 24 uploads of 15 MB at once',
  async run(trial) {
    const up = await trial.start()
    // The time that others take is not compared: receiving these bytes takes both cores in any case.
    const innocents = trial.innocents(up, { slowMs: Infinity })
    await innocents.more(20)
    const doors = () => [up.process.pid!, ...up.fronts().map(({ pid }) => pid)]
    const restingMb = Math.max(...doors().map(rssMbOf))
    let peakMb = 0
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, ...doors().map(rssMbOf))
    }, 50)
    trial.after(() => clearInterval(watch))
    const slow = await manyConnections(up, 1_000)
    trial.after(slow.close)
    // Each is short enough to be held in memory; all of them together are not.
    const head = Buffer.from('POST /sink HTTP/1.1\r\nHost: x\r\nContent-Length: 1040001\r\n\r\n')
    const upload = Buffer.concat([head, Buffer.alloc(1_040_000, 'a')])
    for (const [i, socket] of slow.sockets.entries())
      socket.write(i < 800 ? upload : 'GET /double?n=1 HTTP/1.1\r\nHo')
    await until('they have arrived', () => slow.sockets.every(({ writableLength }) => writableLength === 0))
    const body = Buffer.alloc(15 * 1024 * 1024, 'a')
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => exchange(`${up.url}/sink`, 'POST', false, { body })),
    )
    const served = answers.filter((answer) => answer.status === 200)
    trial.check(
      served.every((answer) => answer.body === `${body.length}`),
      'a body arrived incomplete',
    )
    const refused = answers.filter((answer) => answer.status !== 200)
    // A budget for bodies may refuse some, but it must say so.
    for (const { status, body } of refused)
      trial.check([413, 429, 503, 507].includes(status), `an upload got ${status} ${body.slice(0, 200)}`)
    trial.check(served.length > 0, 'no upload was accepted')
    trial.check(
      peakMb - restingMb < 650,
      `memory grew from ${restingMb.toFixed(0)} to ${peakMb.toFixed(0)} MB`,
    )
    slow.close()
    await until('no body is kept', () => bodyFiles(up).length === 0)
    await innocents.more(20)
  },
}

export const idleConnections: Experiment = {
  name: 'idle-connections',
  about: '2,000 connections that send nothing',
  isGuard: true,
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up, { slowMs: Infinity })
    const pace = await trial.pace(up)
    const idle = await manyConnections(up, 2_000)
    trial.after(idle.close)
    pace.begin()
    await innocents.more(80)
    await pace.rounds(30)
    idle.close()
    await innocents.more(20)
  },
}

export const unrepeatable: Experiment = {
  name: 'get-unrepeatable',
  about: 'GET and HEAD for work that must not be repeated',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up)
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await exchange(`${up.url}/tally?id=hostile`, method, false)
      trial.check(status === 405 && headers.allow === 'POST', `${method}: ${status}, allow: ${headers.allow}`)
    }
    const [quoted] = statusesOf(
      await talk(
        up.port,
        'GET /-/estimate/tally?id=hostile HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      ),
    )
    trial.check(quoted === 200, `a quote got ${quoted}`)
    await innocents.more(40)
    trial.check(!up.tallied().includes('hostile'), 'the work ran')
  },
}

export const halfClosed: Experiment = {
  name: 'half-closed',
  about: 'clients that close their sending side, and valid requests in front of garbage',
  async run(trial) {
    const up = await trial.start()
    const innocents = trial.innocents(up)
    const socket = await dial(up.port, { allowHalfOpen: true })
    let text = ''
    socket.setEncoding('latin1').on('data', (part: string) => {
      text += part
    })
    socket.end('GET /nap?ms=500 HTTP/1.1\r\nHost: x\r\n\r\n')
    await Promise.race([once(socket, 'end'), delay(10_000)])
    socket.destroy()
    trial.check(
      /^(?:HTTP\/1\.1 1\d\d .*\r\n\r\n)*HTTP\/1\.1 200 [\s\S]*500\s*$/.test(text),
      `half-closed: ${JSON.stringify(text.slice(0, 300))}`,
    )
    const valid = 'GET /nap?ms=300 HTTP/1.1\r\nHost: x\r\n\r\nGET /double?n=4 HTTP/1.1\r\nHost: x\r\n\r\n'
    const mixed = statusesOf(await talk(up.port, `${valid}\0\0garbage\r\n\r\n`)).filter(
      (status) => status >= 200,
    )
    trial.check(mixed[0] === 200 && mixed[1] === 200, `requests before garbage: ${mixed}`)
    await innocents.more(40)
  },
}
