/**
 * The head of a client's request as its program receives it, as text: the same that the general path sends. Undefined for
 * requests with anything unusual, such as a body that has not been read: these take the general path.
 */

import { pairsOf, valuesOf } from '../../wire/raw-headers.ts'
import { PlainRequest } from '../fast-path/plain-request.ts'
import type { RequestHead } from '../request/request-head.ts'
import { type IsTrusted, unmapped } from '../request/trusted-proxies.ts'
import type { RequestUrl } from '../request/url.ts'
import { forwardedHeaders, isPassedOn, protocolOf } from '../transports/proxy-headers.ts'
import { rememberNames } from './name-uses.ts'

/** `proxy`: set by proxies; passed on as it is if the proxy is trusted. `forwarded`: set again from what proxies said. */
type Use = 'pass' | 'drop' | 'host' | 'connection' | 'proxy' | 'forwarded' | 'length' | 'general'

const uses: ReadonlyMap<string, Use> = new Map([
  ['host', 'host'],
  ['connection', 'connection'],
  ['keep-alive', 'drop'],
  // `connection: close` names it.
  ['close', 'general'],
  ['content-length', 'length'],
  ['transfer-encoding', 'general'],
  ['expect', 'general'],
  ['te', 'general'],
  ['trailer', 'general'],
  ['upgrade', 'general'],
  ['plimsoll-deadline', 'general'],
  ['plimsoll-announce', 'general'],
  ['plimsoll-max-cost', 'general'],
  ['prefer', 'general'],
  ['idempotency-key', 'general'],
  ['plimsoll-webhook', 'general'],
])

const useOf = rememberNames<Use>((name) => {
  const lower = name.toLowerCase()
  if (!isPassedOn(lower, false)) return isPassedOn(lower, true) ? 'proxy' : 'forwarded'
  return lower.startsWith('proxy-') ? 'general' : (uses.get(lower) ?? 'pass')
})

/** Node's client refuses to send them. */
const unsendable = /[^\x21-\xff]/

/** False: a header asks for something that only the general path does, names a second host, or announces a body that has not been read. */
export function usual({ rawHeaders, wholeBody }: Pick<RequestHead, 'rawHeaders' | 'wholeBody'>): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const use = useOf(rawHeaders[i]!)
    if (use === 'host' && ++hosts > 1) return false
    if (use === 'general' || (use === 'length' && !wholeBody)) return false
  }
  return true
}

export function requestText(
  request: RequestHead,
  { text: target, host: named }: RequestUrl,
  isTrusted: IsTrusted,
): string | undefined {
  const { httpVersionMajor, httpVersionMinor, method } = request
  if (named !== undefined || (httpVersionMajor === 1 && httpVersionMinor !== 1)) return undefined
  if (unsendable.test(target)) return undefined
  const make = () => fieldsText(request, isTrusted)
  const fields = request instanceof PlainRequest ? request.sharedFields(make) : make()
  return fields && `${method} ${target} HTTP/1.1\r\n${fields}`
}

/** What follows the first line. */
function fieldsText(
  request: Pick<RequestHead, 'rawHeaders' | 'socket' | 'wholeBody'>,
  isTrusted: IsTrusted,
): string | undefined {
  const { rawHeaders, wholeBody } = request
  let hasLength = false
  let host: string | undefined
  // Looked up only for requests with headers of proxies.
  let trusted: boolean | undefined
  let text = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    const value = rawHeaders[i + 1]!
    const use = useOf(name)
    if (use === 'pass') text += `${name}: ${value}\r\n`
    else if (use === 'proxy' || use === 'forwarded') {
      trusted ??= isTrusted(request.socket.remoteAddress)
      if (trusted && use === 'proxy') text += `${name}: ${value}\r\n`
    } else if (use === 'host') {
      if (host !== undefined) return undefined
      host = value
      text += `${name}: ${value}\r\n`
    } else if (use === 'length') {
      if (!wholeBody || hasLength) return undefined
      hasLength = true
      text += `${name}: ${value}\r\n`
    } else if (use === 'general' || (use === 'connection' && !isPlain(value))) return undefined
  }
  if (!host || hasLength !== (wholeBody !== undefined)) return undefined
  const address = unmapped(request.socket.remoteAddress ?? '')
  const protocol = protocolOf(request)
  if (trusted)
    return `${text}${merged(rawHeaders, { address, protocol, host })}Connection: keep-alive\r\n\r\n`
  return `${text}x-forwarded-for: ${address || 'unknown'}\r\nx-forwarded-proto: ${protocol}\r\nx-forwarded-host: ${host}\r\nConnection: keep-alive\r\n\r\n`
}

/** Headers about the client and its proxies, as a trusted proxy sent them, with this hop added. */
function merged(rawHeaders: readonly string[], hop: Parameters<typeof forwardedHeaders>[1]): string {
  const raw = forwardedHeaders((name) => valuesOf(rawHeaders, name), hop)
  return pairsOf(raw)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}

/** It names no headers. */
function isPlain(connection: string): boolean {
  const option = connection.toLowerCase()
  return option === 'keep-alive' || option === 'close'
}
