/** Requests that a front and a program might read differently. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { statusesOf, talk } from '../../support/hostile/raw.ts'
import type { Experiment } from '../../support/hostile/trial.ts'

const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
const post = (fields: string, body = '') => `POST /sink HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`
const get = (target: string, fields = '') =>
  `GET ${target} HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`

/** Must be refused: 400, or 501 for codings. */
const refused: Record<string, string> = {
  'two hosts': `GET /seen HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n`,
  'no host': 'GET /seen HTTP/1.1\r\n\r\n',
  'length and chunks': post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`),
  'chunks and length': post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${hidden}`),
  'two lengths': post('Content-Length: 0\r\nContent-Length: 38\r\n', hidden),
  'a list of lengths': post('Content-Length: 0, 38\r\n', hidden),
  'a signed length': post('Content-Length: +0\r\n', hidden),
  'coding identity': post('Transfer-Encoding: identity\r\n', hidden),
  'coding gzip, chunked': post('Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${hidden}`),
  'coding chunked, identity': post('Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${hidden}`),
  'coding xchunked': post('Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${hidden}`),
  'quoted coding': post('Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${hidden}`),
  'two codings': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', `0\r\n\r\n${hidden}`),
  'coding after a vertical tab': post('Transfer-Encoding:\x0bchunked\r\n', `0\r\n\r\n${hidden}`),
  'space before the colon': post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${hidden}`),
  'a folded header': get('/seen', 'X: a\r\n b: c\r\n'),
  'bare line feeds': `GET /seen HTTP/1.1\nHost: x\n\n${hidden}`,
  'bare carriage return': 'GET /seen HTTP/1.1\r\nHost: x\r\nA: b\rContent-Length: 38\r\n\r\n',
  'a chunk size with a sign': post('Transfer-Encoding: chunked\r\n', `+0\r\n\r\n${hidden}`),
  'a chunk size in hex notation': post('Transfer-Encoding: chunked\r\n', `0x0\r\n\r\n${hidden}`),
  'a NUL in a header': get('/seen', 'A: b\0c\r\n'),
  'dot segments behind an encoded slash': get('/files/..%2f..%2fadmin'),
  'a backslash': get('/files\\..\\admin'),
  'an encoded NUL': get('/files/%00'),
}

interface Seen {
  method: string
  url: string
  rawHeaders: string[]
}

export const smuggling: Experiment = {
  name: 'smuggling',
  about: `${Object.keys(refused).length} ambiguous requests to an existing server, dot segments and forged proxy headers`,
  async run(trial) {
    const up = await trial.start({ server: {} })
    const innocents = trial.innocents(up)
    for (const [name, bytes] of Object.entries(refused)) {
      const [first] = statusesOf(await talk(up.port, bytes, 3_000))
      trial.check(first === 400 || first === 501, `${name}: ${first ?? 'no answer'}, not 400`)
    }
    await talk(up.port, get('/files/./a/../b/%2e%2e/seen?x=1'))
    await talk(
      up.port,
      get('/seen?forged', 'X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\nX-Forwarded-Host: evil\r\n'),
    )
    await innocents.more(40)
    const seen = readFileSync(join(up.folder, 'seen'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Seen)
    trial.check(!seen.some(({ url }) => url.includes('smuggled')), 'a hidden request reached the program')
    trial.check(
      seen.some(({ url }) => url === '/files/seen?x=1'),
      `dot segments: ${seen.map(({ url }) => url).find((url) => url.includes('x=1'))}`,
    )
    const forged = seen.find(({ url }) => url === '/seen?forged')
    trial.check(
      forged !== undefined && !/6\.6\.6\.6|evil/.test(forged.rawHeaders.join()),
      `forged headers were passed on: ${forged?.rawHeaders}`,
    )
  },
}
