/** Parses the PROXY protocol, versions 1 and 2: a proxy of TCP connections says whose connection it passes on. */

import { isIPv4, isIPv6 } from 'node:net'
import type { Look } from '../first-bytes.ts'

/** The client of a connection. */
export interface Peer {
  remoteAddress: string
  remotePort: number
}

/** `own`: the proxy speaks for itself, for example to check that the port is open. */
export type ProxyHeader = { peer: Peer } | { own: true } | { malformed: string }

const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const lineStart = Buffer.from('PROXY ', 'latin1')
/** A header of version 1 with its line end. */
const longestLine = 107
/** Of version 2: its fixed part, and the longest part that is accepted after it. */
const [fixedBytes, longestRest] = [16, 4096]
/** Bytes of both addresses and ports, by family. */
const addressBytes: Readonly<Record<number, number>> = { 1: 12, 2: 36 }

/** Looks at the first bytes of a connection. */
export function readProxyHeader(bytes: Buffer): Look<ProxyHeader> {
  if (startsLike(bytes, signature)) return bytes.length < fixedBytes ? 'more' : readBinary(bytes)
  if (startsLike(bytes, lineStart)) return readLine(bytes)
  return malformed('it sent no PROXY header')
}

/** As far as both go. */
function startsLike(bytes: Buffer, start: Buffer): boolean {
  const common = Math.min(bytes.length, start.length)
  return bytes.subarray(0, common).equals(start.subarray(0, common))
}

function readBinary(bytes: Buffer): Look<ProxyHeader> {
  const versionAndCommand = bytes[12]!
  const familyAndTransport = bytes[13]!
  const rest = bytes.readUInt16BE(14)
  if (versionAndCommand >> 4 !== 2) return malformed(`its PROXY header has version ${versionAndCommand >> 4}`)
  const command = versionAndCommand & 15
  if (command > 1) return malformed(`its PROXY header has the unknown command ${command}`)
  if (rest > longestRest) return malformed(`its PROXY header is longer than ${longestRest} bytes`)
  const used = fixedBytes + rest
  if (bytes.length < used) return 'more'
  const family = familyAndTransport >> 4
  const needed = addressBytes[family]
  // Unix sockets and unspecified addresses tell nothing of a client.
  if (command === 0 || needed === undefined) return { found: { own: true }, used }
  if ((familyAndTransport & 15) !== 1) return malformed('its PROXY header is not about a TCP connection')
  if (rest < needed) return malformed('its PROXY header is too short for its addresses')
  return { found: { peer: peerIn(bytes.subarray(fixedBytes, used), family) }, used }
}

/** Both addresses come first, then both ports. */
function peerIn(bytes: Buffer, family: number): Peer {
  if (family === 1)
    return { remoteAddress: bytes.subarray(0, 4).join('.'), remotePort: bytes.readUInt16BE(8) }
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(2 * i).toString(16))
  const { hostname } = new URL(`http://[${groups.join(':')}]`)
  return { remoteAddress: hostname.slice(1, -1), remotePort: bytes.readUInt16BE(32) }
}

function readLine(bytes: Buffer): Look<ProxyHeader> {
  const end = bytes.subarray(0, longestLine).indexOf('\r\n')
  if (end < 0) return bytes.length < longestLine ? 'more' : malformed('its PROXY header does not end')
  const line = bytes.toString('latin1', 0, end)
  const used = end + 2
  if (/^PROXY UNKNOWN( |$)/.test(line)) return { found: { own: true }, used }
  const [, version, source = '', target = '', port = ''] =
    /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? []
  const isAddress = version === '4' ? isIPv4 : isIPv6
  const remotePort = Number(port)
  if (version === undefined || !isAddress(source) || !isAddress(target) || remotePort > 65_535)
    return malformed('its PROXY header cannot be read')
  return { found: { peer: { remoteAddress: source, remotePort } }, used }
}

function malformed(why: string): Look<ProxyHeader> {
  return { found: { malformed: why }, used: 0 }
}
