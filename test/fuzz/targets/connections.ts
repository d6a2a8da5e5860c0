/** The start of connections: PROXY headers, and heads of HTTP/2 requests. */

import { isIP } from 'node:net'
import { isConnectionHeader, streamHead } from '../../../src/front/http2/stream-head.ts'
import { readProxyHeader } from '../../../src/front/proxy-protocol/proxy-header.ts'
import { valuesOf } from '../../../src/wire/raw-headers.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const signature = '\r\n\r\n\0\r\nQUIT\n'

export const proxyHeader: Target = {
  name: 'proxy-header',
  about: 'headers of the PROXY protocol',
  maxBytes: 8192,
  cpuMs: 1_000,
  words: [
    signature,
    '\x21\x11\0\x0c',
    '\x20\0\0\0',
    'PROXY ',
    'TCP4 ',
    'TCP6 ',
    'UNKNOWN',
    '\r\n',
    '::1',
    '65535',
  ],
  declared: errorsOf(),
  open: () => ({
    run(input) {
      const seen = readProxyHeader(input)
      if (seen === 'more') {
        holds(input.length < 16 + 4096, 'a longer header is refused')
        return 'more'
      }
      holds(seen.used <= input.length, 'no more bytes are used than there are')
      if ('malformed' in seen.found) return 'malformed'
      // The header alone is read in the same way.
      holds(JSON.stringify(readProxyHeader(input.subarray(0, seen.used))) === JSON.stringify(seen), 'its end')
      if (!('peer' in seen.found)) return 'own'
      const { remoteAddress, remotePort } = seen.found.peer
      holds(isIP(remoteAddress) !== 0, `address ${remoteAddress}`)
      holds(remotePort >= 0 && remotePort <= 65_535, `port ${remotePort}`)
      return 'peer'
    },
  }),
}

/** One field in a line: the name, a tab, the value. */
export const streamHeads: Target = {
  name: 'stream-head',
  about: 'heads of HTTP/2 requests',
  maxBytes: 8192,
  cpuMs: 1_000,
  words: [
    ...[':method\t', ':path\t', ':authority\t', ':protocol\t', ':scheme\t', 'host\t', 'cookie\t', '\n'],
    ...['content-length\t', 'transfer-encoding\t', 'connection\t', 'CONNECT', 'websocket', '@'],
  ],
  declared: errorsOf(),
  open: () => ({
    run(input) {
      const fields = input.toString('latin1').split('\n')
      const raw = fields.flatMap((field) => {
        const [name = '', ...value] = field.split('\t')
        return [name.toLowerCase(), value.join('\t')]
      })
      const head = streamHead(raw, input.length % 2 === 0, () => 'key')
      if ('bad' in head) return 'bad'
      const names = head.headers.filter((_, i) => i % 2 === 0)
      holds(!names.some((name) => name.startsWith(':')), 'no pseudo-header is passed on')
      holds(valuesOf(head.headers, 'host').length <= 1, 'one host')
      holds(valuesOf(head.headers, 'cookie').length <= 1, 'one cookie')
      const ours = head.protocol === undefined ? ['transfer-encoding'] : ['connection', 'upgrade']
      holds(
        names.every((name) => ours.includes(name) || !isConnectionHeader(name)),
        'headers of a connection are dropped',
      )
      return `${head.method === '' ? 'none' : 'head'} ${head.protocol ?? ''}`
    },
  }),
}
