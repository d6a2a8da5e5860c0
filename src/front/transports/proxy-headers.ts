/** Headers that are passed on between clients and programs. */

import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { endToEnd, pairsOf, valuesOf } from '../../wire/raw-headers.ts'
import { unmapped } from '../request/trusted-proxies.ts'

/** The front sends 100 Continue itself. */
const answered: ReadonlySet<string> = new Set(['expect'])
/** Set by the front for every request. */
const remade: ReadonlySet<string> = new Set([
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'],
])

export interface PassedOn {
  /** True: the client is a proxy whose forwarded headers are believed; those of others are dropped. */
  isTrusted: boolean
  /** Replaces the `Host` header. */
  host?: string | undefined
  /** True: the client asks to switch protocols. */
  upgrade: boolean
}

/** A client's headers as the program receives them. */
export function requestHeaders(request: IncomingMessage, { isTrusted, host, upgrade }: PassedOn): string[] {
  const { rawHeaders, headers } = request
  const sent = pairsOf(rawHeaders)
    .filter(([name]) => isPassedOn(name.toLowerCase(), isTrusted))
    .flatMap(([name, value]) => [name, name.toLowerCase() === 'host' ? (host ?? value) : value])
  const switching = upgrade ? ['connection', 'upgrade', 'upgrade', headers.upgrade ?? ''] : []
  const given = (name: string) => (isTrusted ? valuesOf(rawHeaders, name) : [])
  return [
    ...endToEnd(sent, { others: answered }),
    ...forwardedHeaders(given, {
      address: unmapped(request.socket.remoteAddress ?? ''),
      protocol: protocolOf(request),
      host: host ?? headers.host,
    }),
    ...switching,
  ]
}

/** The protocol that the client used. */
export function protocolOf({ socket }: Pick<IncomingMessage, 'socket'>): 'http' | 'https' {
  return 'encrypted' in socket ? 'https' : 'http'
}

/** `name`: in lower case. Programs that map headers to variables read `_` as `-`. */
export function isPassedOn(name: string, isTrusted: boolean): boolean {
  const read = name.replaceAll('_', '-')
  if (read !== 'forwarded' && !read.startsWith('x-forwarded-')) return true
  return isTrusted && read === name && !remade.has(name)
}

/** `given`: the values that a trusted proxy sent. Its host and protocol are those of the client; addresses form a chain. */
export function forwardedHeaders(
  given: (name: string) => string[],
  { address, protocol, host }: { address: string; protocol: string; host: string | undefined },
): string[] {
  const protocols = given('x-forwarded-proto')
  const hosts = given('x-forwarded-host')
  const chain = given('forwarded')
  const set: [name: string, values: readonly (string | undefined)[]][] = [
    ['forwarded', chain.length > 0 ? [...chain, `for=${nodeName(address)};proto=${protocol}`] : []],
    ['x-forwarded-for', [...given('x-forwarded-for'), address || 'unknown']],
    ['x-forwarded-proto', protocols.length > 0 ? protocols : [protocol]],
    ['x-forwarded-host', hosts.length > 0 ? hosts : [host]],
  ]
  return set.flatMap(([name, values]) => {
    const text = values.filter(Boolean).join(', ')
    return text === '' ? [] : [name, text]
  })
}

/** As RFC 7239 writes it. */
function nodeName(address: string): string {
  return isIPv6(address) ? `"[${address}]"` : address || 'unknown'
}

/** A program's headers as the client receives them, followed by the headers about the job. */
export function answerHeaders(raw: readonly string[], account: Record<string, string>): string[] {
  const ours = new Set(Object.keys(account).filter((name) => name.startsWith('plimsoll-')))
  return [...endToEnd(raw, { others: ours }), ...Object.entries(account).flat()]
}
