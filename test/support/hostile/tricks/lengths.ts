/** Tricks with `Content-Length` and `Transfer-Encoding`. */

import { get, hiddenInBody, hiddenRequest, post, type Trick } from './trick.ts'

const end = '0\r\n\r\n'
const chunked = 'Transfer-Encoding: chunked\r\n'

const lengths: readonly Trick[] = [
  post('two lengths', 'refused', 'Content-Length: 0\r\nContent-Length: 38\r\n'),
  post('two equal lengths', 'refused', 'Content-Length: 0\r\nContent-Length: 0\r\n'),
  post('a list of lengths', 'refused', 'Content-Length: 0, 38\r\n'),
  post('a list of equal lengths', 'refused', 'Content-Length: 0, 0\r\n'),
  post('a length with a plus', 'refused', 'Content-Length: +0\r\n'),
  post('a length with a minus', 'refused', 'Content-Length: -1\r\n'),
  post('a length with an underscore', 'refused', 'Content-Length: 3_8\r\n'),
  post('a length in hexadecimal', 'refused', 'Content-Length: 0x0\r\n'),
  post('a length with a fraction', 'refused', 'Content-Length: 0.0\r\n'),
  post('a length with an exponent', 'refused', 'Content-Length: 0e1\r\n'),
  post('an empty length', 'refused', 'Content-Length:\r\n'),
  post('a length of two words', 'refused', 'Content-Length: 0 38\r\n'),
  post('a length behind a NUL', 'refused', 'Content-Length: \x000\r\n'),
  post('a length before a NUL', 'refused', 'Content-Length: 0\x00\r\n'),
  post('a length behind a vertical tab', 'refused', 'Content-Length: \x0b0\r\n'),
  post('a quoted length', 'refused', 'Content-Length: "0"\r\n'),
  post('a length with a parameter', 'refused', 'Content-Length: 0;a=38\r\n'),
  post('a length in digits of another script', 'refused', 'Content-Length: \xd9\xa0\r\n'),
  post('a length of 2 to the power of 64', 'refused', 'Content-Length: 18446744073709551616\r\n'),
  post('a length of 30 digits', 'refused', `Content-Length: ${'9'.repeat(30)}\r\n`),
  post('a length with a space before the colon', 'refused', 'Content-Length : 38\r\n'),
  post('a length and chunks', 'refused', `Content-Length: 5\r\n${chunked}`, end),
  post('chunks and a length', 'refused', `${chunked}Content-Length: 5\r\n`, end),
  post('chunks and a length of 0', 'refused', `${chunked}Content-Length: 0\r\n`),
  hiddenInBody(
    'a length that Connection names',
    'either',
    (id) => `POST /seen?id=${id}`,
    'Connection: content-length\r\n',
  ),
  get('a length whose name has an underscore', 'either', 'Content_Length: 38\r\n'),
]

const codings: readonly Trick[] = [
  post('the coding identity', 'refused', 'Transfer-Encoding: identity\r\n'),
  post('the coding gzip, chunked', 'refused', 'Transfer-Encoding: gzip, chunked\r\n', end),
  post('the coding chunked, identity', 'refused', 'Transfer-Encoding: chunked, identity\r\n', end),
  post('the coding chunked, chunked', 'refused', 'Transfer-Encoding: chunked, chunked\r\n', end),
  post('the coding xchunked', 'refused', 'Transfer-Encoding: xchunked\r\n', end),
  post('a quoted coding', 'refused', 'Transfer-Encoding: "chunked"\r\n', end),
  post('a coding with a parameter', 'refused', 'Transfer-Encoding: chunked;a=b\r\n', end),
  post('a coding behind a comma', 'refused', 'Transfer-Encoding: , chunked\r\n', end),
  post('a coding before a comma', 'refused', 'Transfer-Encoding: chunked,\r\n', end),
  post('an empty coding', 'refused', 'Transfer-Encoding:\r\n', end),
  post('an empty coding and a length', 'refused', 'Transfer-Encoding:\r\nContent-Length: 5\r\n', end),
  post('two codings', 'refused', `${chunked}Transfer-Encoding: identity\r\n`, end),
  post('two equal codings', 'refused', chunked + chunked, end),
  post('a coding behind a vertical tab', 'refused', 'Transfer-Encoding:\x0bchunked\r\n', end),
  post('a coding before a NUL', 'refused', 'Transfer-Encoding: chunked\x00\r\n', end),
  post('a coding with a space before the colon', 'refused', 'Transfer-Encoding : chunked\r\n', end),
  post('a coding with a tab before the colon', 'refused', 'Transfer-Encoding\t: chunked\r\n', end),
  post('a coding in a folded line', 'refused', 'X: y\r\n Transfer-Encoding: chunked\r\n', end),
  post('a folded coding', 'refused', 'Transfer-Encoding:\r\n chunked\r\n', end),
  post('a coding behind a bare line feed', 'refused', 'X: y\nTransfer-Encoding: chunked\r\n', end),
  post('a coding behind a bare carriage return', 'refused', 'X: y\rTransfer-Encoding: chunked\r\n', end),
  post('a coding on a line without a colon', 'refused', 'Transfer-Encoding chunked\r\n', end),
  post(
    'a coding and a length, with a space before its colon',
    'refused',
    `Content-Length: 5\r\nTransfer-Encoding : chunked\r\n`,
    end,
  ),
  get('a coding whose name has an underscore', 'either', 'Transfer_Encoding: chunked\r\n'),
  {
    name: 'chunks in HTTP/1.0',
    outcome: 'refused',
    bytes: (id) => `POST /seen?id=${id} HTTP/1.0\r\nHost: x\r\n${chunked}\r\n${end}${hiddenRequest(id)}`,
  },
  {
    name: 'a coding in capitals, whose body is a hidden request',
    outcome: 'one',
    bytes(id) {
      const hidden = hiddenRequest(id)
      const head = `POST /seen?id=${id} HTTP/1.1\r\nHost: x\r\nTRANSFER-ENCODING: CHUNKED\r\nConnection: close\r\n`
      return `${head}\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n${end}`
    },
  },
]

export const lengthTricks = [...lengths, ...codings]
