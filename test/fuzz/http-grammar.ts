/** Generates HTTP/1.1 requests: mostly valid, with the deviations that parsers disagree about. */

import type { Random } from '../../src/lib/random.ts'
import { chance, fewOf, jsonText, listOf, oddNumbers, pick, textOf } from './draw.ts'

const methods = [
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PATCH',
  'BREW',
  'get',
  '',
]
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 ', 'http/1.1', '']
const segments = [
  ...['echo', 'strict', 'files', '-', 'estimate', 'health', 'ready', 'workloads', 'once'],
  ...[
    '.',
    '..',
    '%2e',
    '%2e%2e',
    '%2f',
    '..%2f',
    '%5c',
    '\\',
    '%00',
    '%',
    '%zz',
    '%ff',
    '',
    ';a=b',
    '*',
    'é',
  ],
]
const ends = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\0\r\n']

export const httpWords = [
  ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', '?', '&', '=', '#', '/', '//', '/../', '%2e%2e', '%2f', '*'],
  ...[
    'Content-Length: 0\r\n',
    'Content-Length: 3\r\n',
    'Transfer-Encoding: chunked\r\n',
    '0\r\n\r\n',
    '3\r\nabc\r\n',
  ],
  ...[
    'Transfer-Encoding: identity\r\n',
    'Transfer-Encoding: xchunked\r\n',
    'Transfer-Encoding:\x0bchunked\r\n',
  ],
  ...[
    'Host: x\r\n',
    'Host: y\r\n',
    'Expect: 100-continue\r\n',
    'Connection: close\r\n',
    'Connection: host\r\n',
  ],
  ...[
    'Upgrade: websocket\r\nConnection: upgrade\r\n',
    'Content-Type: application/json\r\n',
    'plimsoll-deadline: 5\r\n',
  ],
  ...[
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    ' HTTP/1.1',
    'http://[::1]/',
    '__proto__',
    '\r\n folded',
    'plimsoll-announce: job\r\n',
  ],
]

export function pathOf(random: Random): string {
  const path = `/${listOf(random, 6, () => pick(random, segments)).join('/')}`
  const query = chance(random, 0.5) ? `?${listOf(random, 4, () => pairOf(random)).join('&')}` : ''
  const prefix = chance(random, 0.05)
    ? pick(random, ['http://x', 'http://[', 'https://x:99', '//', 'ftp://x'])
    : ''
  return prefix + path + query
}

function pairOf(random: Random): string {
  const name = pick(random, ['n', 'n', 'tag', 'a', '__proto__', 'constructor', '%zz', '', '%00', 'é'])
  return `${name}${pick(random, ['=', '=', '', '=='])}${pick(random, [...oddNumbers, encodeURIComponent(textOf(random).toWellFormed())])}`
}

const headerNames = [
  ...[
    'Accept',
    'Cookie',
    'X-A',
    'x-forwarded-for',
    'X-Forwarded-Host',
    'Forwarded',
    'Authorization',
    'X-Api-Key',
  ],
  ...['Connection', 'Expect', 'Upgrade', 'TE', 'Trailer', 'Keep-Alive', 'Proxy-Connection', 'Cache-Control'],
  ...[
    'plimsoll-deadline',
    'plimsoll-max-cost',
    'plimsoll-method',
    'plimsoll-announce',
    'plimsoll-work',
    'Idempotency-Key',
    'Host ',
  ],
]
const headerValues = [
  ...[
    'close',
    'keep-alive',
    'upgrade',
    'websocket',
    'h2c',
    '100-continue',
    'chunked',
    'no-cache',
    'max-age=0',
  ],
  ...[
    'a=b; c="d',
    'for=1.2.3.4;host=x',
    '::1',
    '[::1]:80',
    '1.2.3.4, 5.6.7.8',
    'Bearer a',
    'bearer  ',
    'job',
    'POST',
  ],
]

function headerOf(random: Random): string {
  const name = pick(random, headerNames)
  const value = chance(random, 0.7)
    ? pick(random, headerValues)
    : pick(random, [...oddNumbers, textOf(random, 40)])
  return `${name}: ${value}`
}

export function bodyOf(random: Random): Buffer {
  const kind = random.below(4)
  if (kind === 0) return Buffer.alloc(0)
  if (kind === 1) return Buffer.from(textOf(random, 60))
  if (kind === 2) return Buffer.alloc(fewOf(random, 30_000), 'a')
  return Buffer.from(jsonText(random))
}

/** Length or chunks, now and then wrong or both. */
function framed(random: Random, body: Buffer): { fields: string[]; bytes: Buffer } {
  const length = `Content-Length: ${chance(random, 0.1) ? pick(random, oddNumbers) : body.length}`
  const coding = `Transfer-Encoding: ${chance(random, 0.1) ? pick(random, ['identity', 'gzip, chunked', 'chunked, chunked', '"chunked"']) : 'chunked'}`
  const end = chance(random, 0.1)
    ? pick(random, ['', '0\r\n', '0\r\nX: y\r\n\r\n', '00\r\n\r\n'])
    : '0\r\n\r\n'
  const size = chance(random, 0.1)
    ? pick(random, ['-1', '0x1', 'fffffffff', '1;a=b', ' 1', '1 '])
    : body.length.toString(16)
  const chunked = Buffer.concat([
    ...(body.length > 0 ? [Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n')] : []),
    Buffer.from(end),
  ])
  const kind = random.below(10)
  if (kind < 5) return { fields: body.length > 0 || kind === 0 ? [length] : [], bytes: body }
  if (kind < 9) return { fields: [coding], bytes: chunked }
  return { fields: random.below(2) === 0 ? [length, coding] : [coding, length], bytes: chunked }
}

function requestOf(random: Random): Buffer {
  const { fields, bytes } = framed(random, bodyOf(random))
  const json = chance(random, 0.4) ? ['Content-Type: application/json'] : []
  const host = chance(random, 0.95)
    ? ['Host: x']
    : pick(random, [[], ['Host: x', 'Host: y'], ['Host:'], ['host : x']])
  const last = chance(random, 0.3) ? ['Connection: close'] : []
  const lines = [
    [
      pick(random, methods),
      chance(random, 0.02) ? textOf(random) : pathOf(random),
      pick(random, versions),
    ].join(' '),
    ...[...host, ...json, ...fields, ...last, ...listOf(random, 6, () => headerOf(random))],
  ]
  const head = lines.map((line) => `${line}${chance(random, 0.98) ? '\r\n' : pick(random, ends)}`).join('')
  return Buffer.concat([Buffer.from(`${head}\r\n`, chance(random, 0.9) ? 'latin1' : 'utf8'), bytes])
}

/** One request, or a few in a row. */
export function requestsOf(random: Random): Buffer {
  const count = 1 + fewOf(random, 4)
  return Buffer.concat(Array.from({ length: count }, () => requestOf(random)))
}
