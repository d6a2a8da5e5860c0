/** Tricks with what comes after a head: upgrades, `Expect`, bodies that nobody wants, and requests behind an error. */

import { hiddenInBody, hiddenRequest, line, type Trick } from './trick.ts'

const seen = (method: string) => (id: string) => `${method} /seen?id=${id}`

/** Sent in front of a hidden request, with nothing wrong but the last line of its head. */
function expecting(name: string, outcome: Trick['outcome'], expect: string): Trick {
  return hiddenInBody(name, outcome, seen('POST'), `${expect}Connection: close\r\n`)
}

export const turnTricks: readonly Trick[] = [
  hiddenInBody('a hidden request as a body', 'one', seen('POST')),
  hiddenInBody('a body of a GET', 'either', seen('GET')),
  hiddenInBody('a body of a HEAD', 'either', seen('HEAD')),
  hiddenInBody('a body of a DELETE', 'either', seen('DELETE')),
  hiddenInBody('a body of OPTIONS', 'either', seen('OPTIONS')),
  hiddenInBody('a body of TRACE', 'either', seen('TRACE')),
  hiddenInBody('a body for a built-in path', 'either', 'POST /-/health'),
  hiddenInBody('a body of a GET for a built-in path', 'either', 'GET /-/health'),
  hiddenInBody('a body for an unknown built-in path', 'refused', 'POST /-/nothing'),
  hiddenInBody('a body for a quote', 'either', 'POST /-/estimate/seen'),
  expecting('100-continue with a body that does not wait', 'one', 'Expect: 100-continue\r\n'),
  expecting('100-continue twice', 'either', 'Expect: 100-continue\r\nExpect: 100-continue\r\n'),
  expecting('an unknown expectation', 'refused', 'Expect: 100-continuee\r\n'),
  expecting('two expectations', 'either', 'Expect: x, 100-continue\r\n'),
  expecting('an empty expectation', 'either', 'Expect:\r\n'),
  line('100-continue without a body', 'either', 'GET TARGET HTTP/1.1', 'Host: x\r\nExpect: 100-continue\r\n'),
  hiddenInBody(
    'a WebSocket with a body',
    'either',
    seen('GET'),
    'Connection: upgrade\r\nUpgrade: websocket\r\n',
  ),
  hiddenInBody(
    'HTTP/2 in clear text with a body',
    'either',
    seen('POST'),
    'Connection: upgrade, http2-settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
  ),
  hiddenInBody(
    'an unknown protocol with a body',
    'either',
    seen('POST'),
    'Connection: upgrade\r\nUpgrade: x/1\r\n',
  ),
  hiddenInBody('an upgrade that Connection does not name', 'one', seen('POST'), 'Upgrade: websocket\r\n'),
  {
    name: 'a hidden request behind a WebSocket of another version',
    outcome: 'either',
    bytes: (id) =>
      `POST /seen?id=${id} HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 777\r\nContent-Length: ${hiddenRequest(id).length}\r\n\r\n${hiddenRequest(id)}`,
  },
  {
    name: 'a hidden request behind garbage',
    outcome: 'refused',
    bytes: (id) => `\x01\x02\x03\r\n\r\n${hiddenRequest(id)}`,
  },
  {
    name: 'a hidden request behind an invalid request',
    outcome: 'refused',
    bytes: (id) => `GET /seen?id=${id} HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${hiddenRequest(id)}`,
  },
  {
    name: 'a hidden request behind a body that is too long',
    outcome: 'refused',
    bytes: (id) =>
      `POST /seen?id=${id} HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n${hiddenRequest(id)}`,
  },
  {
    name: 'a hidden request behind the last one of a connection',
    outcome: 'one',
    bytes: (id) => `GET /seen?id=${id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${hiddenRequest(id)}`,
  },
]
