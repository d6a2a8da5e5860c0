/**
 * The head of a client's request as its program receives it, as text: the same that the general path sends. Undefined for
 * requests with anything unusual, such as a body or headers that proxies set: these take the general path.
 */

import type { IncomingMessage } from 'node:http'
import { unmapped } from '../request/trusted-proxies.ts'
import type { RequestUrl } from '../request/url.ts'

type Use = 'pass' | 'drop' | 'host' | 'connection' | 'general'

const uses: Readonly<Record<string, Use>> = {
  host: 'host',
  connection: 'connection',
  'keep-alive': 'drop',
  'content-length': 'general',
  'transfer-encoding': 'general',
  expect: 'general',
  te: 'general',
  trailer: 'general',
  upgrade: 'general',
  forwarded: 'general',
  'plimsoll-deadline': 'general',
  'plimsoll-announce': 'general',
}

/** Clients use few header names: each is checked once. */
const known = new Map<string, Use>()
const mostKnown = 1_000

function useOf(name: string): Use {
  const found = known.get(name)
  if (found) return found
  const lower = name.toLowerCase()
  const isForwarded = lower.replaceAll('_', '-').startsWith('x-forwarded-')
  const use = isForwarded || lower.startsWith('proxy-') ? 'general' : (uses[lower] ?? 'pass')
  if (known.size < mostKnown) known.set(name, use)
  return use
}

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
  const { remoteAddress = '', encrypted } = request.socket as IncomingMessage['socket'] & {
    encrypted?: boolean
  }
  const address = unmapped(remoteAddress) || 'unknown'
  return `${head}x-forwarded-for: ${address}\r\nx-forwarded-proto: ${encrypted ? 'https' : 'http'}\r\nx-forwarded-host: ${host}\r\nConnection: keep-alive\r\n\r\n`
}

/** It names no headers. */
function isPlain(connection: string): boolean {
  const option = connection.toLowerCase()
  return option === 'keep-alive' || option === 'close'
}
