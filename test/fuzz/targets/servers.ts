/** The ports that only the cluster's own processes and operators use: attempts at workers, and the admin port. */

import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { headers as wireHeaders } from '../../../src/wire/messages.ts'
import { bearer } from '../../../src/wire/token.ts'
import { attemptServer } from '../../../src/worker/attempts/attempt-server.ts'
import type { Supervisor } from '../../../src/worker/supervisor.ts'
import { startLive, stopLive } from '../../support/live.ts'
import { chance, jsonText, listOf, pick, textOf } from '../draw.ts'
import { httpWords } from '../http-grammar.ts'
import { sendTo } from '../send-bytes.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const token = 'fuzz'

/** Status lines of all answers. */
function statusesOf(text: string): string {
  holds(
    text === '' || /^HTTP\/1\.1 \d{3} /.test(text),
    `not an HTTP answer: ${JSON.stringify(text.slice(0, 100))}`,
  )
  return (
    [...new Set([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status))].join(' ') ||
    'no answer'
  )
}

export const attempts: Target = {
  name: 'attempts',
  about: 'attempts that a front sends to a worker, over a socket',
  maxBytes: 16 * 1024,
  cpuMs: 1_000,
  words: [...httpWords, '{"epoch":1,"job":"a","attempt":1}', '"http":', '"params":', 'null', '[]'],
  generate: (random) => Buffer.from(jsonText(random)),
  declared: errorsOf(),
  async open() {
    const supervisor = { take: () => ({ refused: 'no slot', full: true }) } as unknown as Supervisor
    const server = attemptServer(supervisor, token, Promise.resolve())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return {
      async run(input) {
        const length = input.length % 7 === 0 ? input.length + 1 : input.length
        const head =
          `POST /attempt HTTP/1.1\r\nHost: x\r\nConnection: close\r\nauthorization: ${bearer(token)}\r\n` +
          `${wireHeaders.headBytes}: ${length}\r\nContent-Length: ${input.length}\r\n\r\n`
        const text = await sendTo(port, Buffer.concat([Buffer.from(head), input]))
        const [, message = ''] = /"message":"([a-z ]*)/i.exec(text) ?? []
        return `${statusesOf(text)} ${message}`
      },
      close: () => closed(server),
    }
  },
}

function closed(server: Server): void {
  server.closeAllConnections()
  server.close()
}

const paths = [
  '/api/state',
  '/api/jobs/x/why',
  '/api/jobs/%zz/why',
  '/api/restart',
  '/api/cache/abc',
  '/-/wire',
  '/',
  '/api/cache/%00',
  '/metrics',
]

export const adminPort: Target = {
  name: 'admin-port',
  about: 'requests to the admin port of a cluster without workers, over a socket',
  maxBytes: 16 * 1024,
  cpuMs: 2_000,
  words: [
    ...httpWords,
    ...paths,
    'plimsoll-kept: {}\r\n',
    'Upgrade: plimsoll\r\nConnection: upgrade\r\n',
    '{"fronts":true,"workers":false}',
  ],
  generate(random) {
    const body = chance(random, 0.5) ? jsonText(random) : textOf(random, 40)
    const upgrade = chance(random, 0.2) ? 'Connection: upgrade\r\nUpgrade: plimsoll\r\n' : ''
    const more = listOf(random, 3, () =>
      pick(random, [
        'Origin: http://evil\r\n',
        'Content-Type: application/json\r\n',
        `plimsoll-kept: ${jsonText(random).replaceAll(/[^\x20-\x7e]/g, '')}\r\n`,
      ]),
    )
    return Buffer.from(
      `${pick(random, ['GET', 'POST', 'PUT', 'DELETE'])} ${pick(random, paths)} HTTP/1.1\r\nHost: ${pick(random, ['localhost', 'evil', '127.0.0.1'])}\r\n` +
        `${upgrade}${more.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  },
  declared: errorsOf(),
  async open() {
    const live = await startLive({ min: 0, max: 1 }, false)
    const port = Number(new URL(live.adminUrl).port)
    return {
      async run(input) {
        const happened = statusesOf(await sendTo(port, input))
        holds(!/\b500\b/.test(happened), 'an internal error')
        return happened
      },
      close: () => stopLive(live),
    }
  },
}
