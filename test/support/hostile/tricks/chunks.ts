/** Tricks with chunks and trailers. */

import { chunks, hiddenRequest, type Trick } from './trick.ts'

const end = '0\r\n\r\n'

/** Chunks, after which the client expects nothing more. */
function last(name: string, outcome: Trick['outcome'], body: string): Trick {
  const lines = 'Host: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n'
  return { name, outcome, bytes: (id) => `POST /seen?id=${id} HTTP/1.1\r\n${lines}\r\n${body}` }
}

export const chunkTricks: readonly Trick[] = [
  chunks('a chunk size with a plus', 'refused', '+0\r\n\r\n'),
  chunks('a chunk size with a minus', 'refused', '-0\r\n\r\n'),
  chunks('a chunk size with 0x', 'refused', '0x0\r\n\r\n'),
  chunks('a chunk size with an underscore', 'refused', '0_0\r\n\r\n'),
  chunks('a chunk size of 17 digits', 'refused', '10000000000000000\r\n\r\n'),
  chunks('a chunk size of 2 to the power of 64 minus 1', 'refused', 'ffffffffffffffff\r\n\r\n'),
  chunks('no chunk size', 'refused', '\r\n\r\n'),
  chunks('a space before a chunk size', 'refused', ' 0\r\n\r\n'),
  chunks('a comma behind a chunk size', 'refused', '0,1\r\n\r\n'),
  chunks('a quoted chunk size', 'refused', '"0"\r\n\r\n'),
  chunks('a NUL behind a chunk size', 'refused', '0\x00\r\n\r\n'),
  chunks('a vertical tab behind a chunk size', 'refused', '0\x0b\r\n\r\n'),
  chunks('a bare line feed behind a chunk size', 'refused', '0\n\r\n'),
  chunks('bare line feeds behind the last chunk', 'refused', '0\n\n'),
  chunks('a bare carriage return behind a chunk size', 'refused', '0\r\r\n\r\n'),
  chunks('a bare line feed in a chunk extension', 'refused', '0;a\nb\r\n\r\n'),
  chunks('a bare carriage return in a chunk extension', 'refused', '0;a\rb\r\n\r\n'),
  chunks('a NUL in a chunk extension', 'refused', '0;a\x00\r\n\r\n'),
  chunks('a line break in a quoted chunk extension', 'refused', '0;a="\r\n\r\n"\r\n\r\n'),
  chunks('a chunk extension of 100 KB', 'refused', `0;a=${'b'.repeat(100_000)}\r\n\r\n`),
  chunks('a chunk without an end', 'refused', `1\r\nZ${end}`),
  chunks('a chunk that ends with a bare line feed', 'refused', `1\r\nZ\n${end}`),
  chunks('a chunk that ends with other bytes', 'refused', `1\r\nZXX${end}`),
  chunks('a chunk that is longer than its size', 'refused', `1\r\nZZZ\r\n${end}`),
  chunks('a last chunk that ends with other bytes', 'refused', '0\r\nXX'),
  chunks('a trailer with a space before its colon', 'refused', '0\r\nX : y\r\n\r\n'),
  chunks('a folded trailer', 'refused', '0\r\nX: y\r\n z\r\n\r\n'),
  chunks('a trailer with a bare line feed', 'refused', '0\r\nX: y\nZ: a\r\n\r\n'),
  chunks('a trailer with a NUL', 'refused', '0\r\nX: y\x00\r\n\r\n'),
  chunks('trailers of 100 KB', 'refused', `0\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`),
  last('a chunk extension', 'one', `1;a=b\r\nZ\r\n${end}`),
  last('a chunk size with zeros before it', 'either', `000000000000000000001\r\nZ\r\n${end}`),
  last('a space behind a chunk size', 'either', `1 \r\nZ\r\n${end}`),
  last('a trailer that names a length', 'either', '0\r\nContent-Length: 38\r\n\r\n'),
  last('a trailer that names a coding', 'either', '0\r\nTransfer-Encoding: identity\r\n\r\n'),
  last('a trailer that names a host', 'either', '0\r\nHost: other\r\n\r\n'),
  {
    name: 'a hidden request in a chunk',
    outcome: 'one',
    bytes(id) {
      const hidden = hiddenRequest(id)
      const head = 'Host: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n'
      return `POST /seen?id=${id} HTTP/1.1\r\n${head}\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n${end}`
    },
  },
]
