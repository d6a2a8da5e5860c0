/** Headers of requests and of programs' answers, cookies included, and the names of clients. */

import type { IncomingMessage } from 'node:http'
import { clientNamer } from '../../../src/front/request/client-name.ts'
import { answerHeaders } from '../../../src/front/transports/proxy-headers.ts'
import { endToEnd, pairsOf } from '../../../src/wire/raw-headers.ts'
import { listOf, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const names = [
  ...[
    'Host',
    'Connection',
    'connection',
    'Cookie',
    'Set-Cookie',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Upgrade',
    'Forwarded',
  ],
  ...[
    'X-Forwarded-For',
    'x-forwarded-host',
    'X-Forwarded-Proto',
    'Proxy-Authorization',
    'X-Api-Key',
    'Authorization',
  ],
  ...['Content-Length', 'Content-Type', 'Transfer-Encoding', 'X-Tenant', '__proto__', 'plimsoll-work'],
]
const values = [
  ...[
    'close',
    'keep-alive, cookie',
    'host, content-length',
    'a=b; c=d; __proto__=e',
    '1.2.3.4',
    '::ffff:1.2.3.4',
  ],
  ...[
    '[fe80::1%eth0]:8080',
    '1.2.3.4:80, ::1',
    'Bearer abc',
    'bearer ',
    'for="[::1]";by=x',
    '::1%',
    ':::',
    '1::2::3',
  ],
]
const namers = ['address', 'key', 'header:x-tenant', 'header:cookie'].map((by) => clientNamer(by))
const hopByHop = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']

export const headers: Target = {
  name: 'headers',
  about: 'headers, cookies and client names',
  weight: 2,
  maxBytes: 8192,
  cpuMs: 1_000,
  words: [...names.map((name) => `\n${name}: `), ...values, ',', ';', '"', '=', '%', '\0', '\x80'],
  generate: (random) =>
    Buffer.from(
      listOf(
        random,
        12,
        () => `${pick(random, names)}: ${pick(random, [...values, textOf(random, 30)])}`,
      ).join('\n'),
    ),
  declared: errorsOf(),
  open: () => ({
    run(input) {
      const request = requestOf(input.toString('latin1'))
      const answered = answerHeaders(request.rawHeaders, { 'plimsoll-work': '1' })
      for (const raw of [answered, endToEnd(request.rawHeaders)]) {
        holds(raw.length % 2 === 0, 'a name without a value')
        const found = pairsOf(raw).find(([name]) => hopByHop.includes(name.toLowerCase()))
        holds(found === undefined, `${found?.[0]} is passed on`)
      }
      const clients = namers.map((nameOf) => nameOf(request))
      for (const client of clients)
        holds(/^[\x20-\x7e]{1,80}$/.test(client), `client ${JSON.stringify(client)}`)
      return clients.map((client) => client.replace(/[\da-f]+/g, '0').slice(0, 12)).join(' ')
    },
  }),
}

/** As Node presents a request. */
function requestOf(text: string): IncomingMessage {
  const raw = text.split('\n').flatMap((line) => {
    const [, name, value] =
      /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/.exec(line.replaceAll(/[\r\0]/g, '')) ?? []
    return name === undefined ? [] : [name, value!]
  })
  const distinct: Record<string, string[]> = Object.create(null)
  for (const [name, value] of pairsOf(raw)) {
    const values = distinct[name.toLowerCase()] ?? []
    distinct[name.toLowerCase()] = [...values, value]
  }
  const joined = Object.fromEntries(Object.entries(distinct).map(([name, all]) => [name, all.join(', ')]))
  const address = distinct['x-tenant']?.[0] ?? '127.0.0.1'
  return {
    ...{ rawHeaders: raw, headers: joined, headersDistinct: distinct },
    socket: { remoteAddress: address },
  } as unknown as IncomingMessage
}
