/** Turns the head of an HTTP/2 request into that of an HTTP/1.1 request. */

import { pairsOf } from '../../wire/raw-headers.ts'

export interface StreamHead {
  method: string
  target: string
  /** Names and values in turn, without pseudo-headers. */
  headers: string[]
  /** Set: the client asks for another protocol on this stream (RFC 8441). */
  protocol?: string
}

/** The head cannot be expressed in HTTP/1.1. */
export interface BadHead {
  bad: string
}

/** They describe a connection of HTTP/1 and are forbidden in HTTP/2. */
const connectionHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'],
])

export function isConnectionHeader(name: string): boolean {
  return connectionHeaders.has(name)
}

/**
 * `raw`: names and values in turn, as Node gives them. `hasBody`: a body follows. Its length may be unknown, which
 * HTTP/1.1 expresses by chunks. `newKey` makes the key of a WebSocket handshake, which HTTP/2 does without.
 */
export function streamHead(
  raw: readonly string[],
  hasBody: boolean,
  newKey: () => string,
): StreamHead | BadHead {
  const pseudo = new Map<string, string>()
  const headers: string[] = []
  const hosts = new Set<string>()
  const cookies: string[] = []
  let hasLength = false
  for (const [name, value] of pairsOf(raw)) {
    if (name.startsWith(':')) pseudo.set(name, value)
    else if (name === 'host') hosts.add(value)
    else if (name === 'cookie') cookies.push(value)
    else if (!isConnectionHeader(name)) {
      if (name === 'content-length') hasLength = true
      headers.push(name, value)
    }
  }
  const method = pseudo.get(':method') ?? ''
  const protocol = pseudo.get(':protocol')
  const authority = pseudo.get(':authority')
  if (authority !== undefined) hosts.add(authority)
  if (hosts.size > 1) return { bad: 'Host, :authority: must be the same' }
  const [host] = hosts
  if (host?.includes('@')) return { bad: ':authority: must not contain a user name' }
  if (host !== undefined) headers.unshift('host', host)
  if (cookies.length > 0) headers.push('cookie', cookies.join('; '))
  const target = pseudo.get(':path') ?? ''
  if (protocol !== undefined) return switching({ target, headers, protocol, newKey })
  if (method === 'CONNECT') return { bad: 'CONNECT: is not supported' }
  if (hasBody && !hasLength) headers.push('transfer-encoding', 'chunked')
  return { method, target, headers }
}

/** In HTTP/1.1 a client asks for another protocol with a GET. */
function switching(given: {
  target: string
  headers: string[]
  protocol: string
  newKey(): string
}): StreamHead | BadHead {
  const { target, headers, protocol, newKey } = given
  if (protocol !== 'websocket') return { bad: `:protocol = ${protocol.slice(0, 100)}: must be websocket` }
  const asked = ['connection', 'upgrade', 'upgrade', protocol, 'sec-websocket-key', newKey()]
  return { method: 'GET', target, headers: [...headers, ...asked], protocol }
}
