/** Varied requests to an object store, drawn from a seed. */

import { type Random, stream } from '../../../src/lib/random.ts'
import type { Sent } from './exchange.ts'

const bucket = '/box'
/** Of the initial files. */
const sizes = [0, 1, 100, 4_096, 65_536, 300_000, 2_000_000, 20_000_000]

export function prepared(): Sent[] {
  return sizes.map((size, i) => upload(`${bucket}/file-${i}`, size))
}

function upload(path: string, size: number, more: Partial<Sent> = {}): Sent {
  return { method: 'PUT', path, body: bytesOf(size), headers: { 'content-type': 'text/plain' }, ...more }
}

/** Deterministic, and without repetition, so that a shifted byte shows. */
function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let state = size + 1
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

type Draw = (random: Random, i: number) => Sent

const pick = <T>(random: Random, values: readonly T[]): T =>
  values[Math.floor(random.next() * values.length)]!
const file = (random: Random, most = sizes.length) => `${bucket}/file-${Math.floor(random.next() * most)}`
/** s3rver aborts its answer to a range request for an empty file. */
const longFile = (random: Random) => `${bucket}/file-${2 + Math.floor(random.next() * (sizes.length - 2))}`
const range = (random: Random) => {
  const at = Math.floor(random.next() ** 3 * 400_000)
  return pick(random, [
    `bytes=${at}-${at + Math.floor(random.next() * 70_000)}`,
    `bytes=${at}-`,
    `bytes=-${at}`,
    'bytes=0-0',
    'bytes=99999999-',
    'bytes=5-2',
    'bytes=0-1,4-5',
    'pages=1-2',
  ])
}

const kinds: Record<string, Draw> = {
  whole: (random) => ({ method: 'GET', path: file(random, 7) }),
  'large download': () => ({ method: 'GET', path: `${bucket}/file-7` }),
  range: (random) => ({ method: 'GET', path: longFile(random), headers: { range: range(random) } }),
  head: (random) => ({ method: 'HEAD', path: file(random, 9) }),
  'head of a range': (random) => ({
    method: 'HEAD',
    path: longFile(random),
    headers: { range: range(random) },
  }),
  conditional: (random) => ({
    method: 'GET',
    path: file(random, 5),
    headers: pick(random, [
      { 'if-none-match': '*' },
      { 'if-none-match': '"d41d8cd98f00b204e9800998ecf8427e"' },
      { 'if-match': '"nothing"' },
      { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
      { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' },
    ]),
  }),
  upload: (random, i) => upload(`${bucket}/new-${i % 20}`, Math.floor(10 ** (6 * random.next()))),
  'empty upload': (_, i) => upload(`${bucket}/new-${i % 20}`, 0),
  'upload in chunks': (random, i) =>
    upload(`${bucket}/chunked-${i % 20}`, Math.floor(10 ** (5.7 * random.next())), { chunked: true }),
  'empty upload in chunks': (_, i) => upload(`${bucket}/chunked-${i % 20}`, 0, { chunked: true }),
  'large upload': () => upload(`${bucket}/large`, 12_000_000),
  download: (_, i) => ({ method: 'GET', path: `${bucket}/new-${i % 25}` }),
  copy: (random, i) => ({
    method: 'PUT',
    path: `${bucket}/copy-${i % 10}`,
    headers: { 'x-amz-copy-source': file(random, 4) },
  }),
  list: (random) => ({
    method: 'GET',
    path: `${bucket}?${pick(random, ['', 'prefix=file-', 'max-keys=3', 'delimiter=-', 'list-type=2&prefix=file'])}`,
  }),
  delete: (_, i) => ({ method: 'DELETE', path: `${bucket}/new-${i % 25}` }),
  missing: (_, i) => ({ method: 'GET', path: `${bucket}/missing%20${i}?x=%2F&y=ä`.replace('ä', '%C3%A4') }),
  'no bucket': (_, i) => ({ method: pick2(i), path: `/nowhere-${i % 3}/x` }),
  options: (random) => ({
    method: 'OPTIONS',
    path: file(random),
    headers: { origin: 'http://example.com', 'access-control-request-method': 'GET' },
  }),
  'odd method': (random, i) => ({
    method: ['PATCH', 'POST', 'TRACE'][i % 3]!,
    path: file(random),
    ...(i % 2 && { body: Buffer.from('{"a":1}') }),
  }),
}

const pick2 = (i: number) => ['GET', 'HEAD', 'DELETE', 'PUT'][i % 4]!

/** Large transfers are rare. */
const rare: ReadonlySet<string> = new Set(['large download', 'large upload'])

export function requestsOf(count: number, seed: number): (Sent & { kind: string })[] {
  const random = stream(seed, 'third-party')
  const names = Object.keys(kinds)
  return Array.from({ length: count }, (_, i) => {
    let kind = pick(random, names)
    if (rare.has(kind) && random.next() > 0.2) kind = 'range'
    return { kind, ...kinds[kind]!(random, i) }
  })
}
