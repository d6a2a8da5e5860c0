/**
 * The head of a client's request as its program receives it, as text: the same that the general path sends. Undefined for
 * requests with anything unusual, such as a body or headers that proxies set: these take the general path.
 */

import type { IncomingMessage } from 'node:http'
import { unmapped } from '../request/trusted-proxies.ts'
import type { RequestUrl } from '../request/url.ts'
import { protocolOf } from '../transports/proxy-headers.ts'
import { rememberNames } from './name-uses.ts'

type Use = 'pass' | 'drop' | 'host' | 'connection' | 'general'

const uses: ReadonlyMap<string, Use> = new Map([
  ['host', 'host'],
  ['connection', 'connection'],
  ['keep-alive', 'drop'],
  // `connection: close` names it.
  ['close', 'general'],
  ['content-length', 'general'],
  ['transfer-encoding', 'general'],
  ['expect', 'general'],
  ['te', 'general'],
  ['trailer', 'general'],
  ['upgrade', 'general'],
  ['forwarded', 'general'],
  ['plimsoll-deadline', 'general'],
  ['plimsoll-announce', 'general'],
])

const useOf = rememberNames<Use>((name) => {
  const lower = name.toLowerCase()
  const isForwarded = lower.replaceAll('_', '-').startsWith('x-forwarded-')
  return isForwarded || lower.startsWith('proxy-') ? 'general' : (uses.get(lower) ?? 'pass')
})

/** Node's client refuses to send them. */
const unsendable = /[^\x21-\xff]/

/** False: a header asks for something that only the general path does. */
export function usual(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    const use = useOf(name)
    if (use === 'general' && !/^(x-)?forwarded/i.test(name)) return false
  }
  return true
}

/** `request.method` must be one without a body. */
export function requestText(
  request: IncomingMessage,
  { text: target, host: named }: RequestUrl,
): string | undefined {
  const { rawHeaders, httpVersionMajor, httpVersionMinor, method } = request
  if (named !== undefined || httpVersionMajor !== 1 || httpVersionMinor !== 1) return undefined
  if (unsendable.test(target)) return undefined
  let host: string | undefined
  let head = `${method} ${target} HTTP/1.1\r\n`
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    const value = rawHeaders[i + 1]!
    const use = useOf(name)
    if (use === 'pass') head += `${name}: ${value}\r\n`
    else if (use === 'host') {
      if (host !== undefined) return undefined
      host = value
      head += `${name}: ${value}\r\n`
    } else if (use === 'general' || (use === 'connection' && !isPlain(value))) return undefined
  }
  if (!host) return undefined
  const address = unmapped(request.socket.remoteAddress ?? '') || 'unknown'
  const protocol = protocolOf(request)
  return `${head}x-forwarded-for: ${address}\r\nx-forwarded-proto: ${protocol}\r\nx-forwarded-host: ${host}\r\nConnection: keep-alive\r\n\r\n`
}

/** It names no headers. */
function isPlain(connection: string): boolean {
  const option = connection.toLowerCase()
  return option === 'keep-alive' || option === 'close'
}
