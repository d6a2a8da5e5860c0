/** The name under which a client's work is added up. Never a secret, never long. */

import { createHash } from 'node:crypto'
import { isIP, isIPv4 } from 'node:net'
import { ConfigError } from '../../lib/errors.ts'
import { type IsTrusted, trustedProxies } from './trusted-proxies.ts'

/** The parts of an `IncomingMessage` that identify its client. */
export interface ClientFacts {
  readonly socket: { readonly remoteAddress?: string | undefined }
  /** All values of each header, by its name in lower case. */
  readonly headersDistinct: Readonly<Record<string, string[] | undefined>>
}

export type ClientNamer = (request: ClientFacts) => string

/** All clients that cannot be identified. */
const anonymous = 'anonymous'

/** Longer names are replaced by their hash. */
const longestName = 64

const forwardedFor = 'x-forwarded-for'

/** Headers whose names suggest that they hold a secret. */
const secretHeader = /auth|cookie|credential|key|passw|secret|session|signature|token/

/**
 * The rule for `address`, `key` or `header:NAME`. `proxies`: addresses whose `x-forwarded-for` is believed. Throws a
 * `ConfigError` that names `option`.
 */
export function clientNamer(by: string, proxies: readonly string[] = [], option = 'clientBy'): ClientNamer {
  if (by === 'address') return byAddress
  if (by === 'key') return byKey
  const [, header] = /^header:([!#$%&'*+.^_`|~0-9a-z-]+)$/i.exec(by) ?? []
  if (header === undefined) {
    throw new ConfigError(
      `${option} = ${by}: must be address, key or header:NAME, for example header:x-tenant`,
    )
  }
  const name = header.toLowerCase()
  if (name !== forwardedFor) return byHeader(name)
  if (proxies.length > 0) return byForwardedFor(trustedProxies(proxies))
  throw new ConfigError(
    `${option} = ${by}: requires trustedProxies (--trusted-proxies), because clients can send this header too`,
  )
}

/** Names of connected clients, which send many requests. */
const named = new WeakMap<ClientFacts['socket'], string>()

function byAddress({ socket }: ClientFacts): string {
  let name = named.get(socket)
  if (name === undefined) {
    name = addressName(socket.remoteAddress ?? '') ?? anonymous
    named.set(socket, name)
  }
  return name
}

function byKey(request: ClientFacts): string {
  const [, bearer] = /^bearer +(.*)$/i.exec(only(request, 'authorization') ?? '') ?? []
  const key = bearer?.trim() || only(request, 'x-api-key')
  return key ? `key:${digest(key)}` : anonymous
}

/** Each proxy appends the address that it saw; the client's is the last that is not the address of a trusted proxy. */
function byForwardedFor(isTrusted: IsTrusted): ClientNamer {
  return (request) => {
    const { remoteAddress } = request.socket
    const chain = isTrusted(remoteAddress) ? addressesIn(request.headersDistinct[forwardedFor]) : []
    const client = chain.findLast((address) => !isTrusted(address)) ?? chain[0] ?? remoteAddress
    return addressName(client ?? '') ?? anonymous
  }
}

function byHeader(header: string): ClientNamer {
  if (secretHeader.test(header)) {
    return (request) => {
      const secret = only(request, header)
      return secret ? `key:${digest(secret)}` : anonymous
    }
  }
  return (request) => {
    const value = only(request, header)
    return value ? (addressName(value) ?? shown(value)) : anonymous
  }
}

/** A repeated header identifies nobody: a combined value would be a new name with a new limit. */
function only({ headersDistinct }: ClientFacts, header: string): string | undefined {
  const values = headersDistinct[header] ?? []
  return values.length === 1 ? values[0]!.trim() : undefined
}

/** Without ports and brackets. */
function addressesIn(values: string[] = []): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((each) => {
      const [, inBrackets, beforePort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(each.trim()) ?? []
      return inBrackets ?? beforePort ?? each.trim()
    })
    .filter((address) => address !== '')
}

/** An IPv4 address, also if mapped to IPv6; of IPv6 the first 64 bits, because a client usually owns all addresses below. */
function addressName(text: string): string | undefined {
  const address = text.replace(/%.*$/s, '')
  if (isIPv4(address)) return address
  if (isIP(address) !== 6) return undefined
  const groups = groupsOf(address)
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return [groups[6]! >> 8, groups[6]! & 255, groups[7]! >> 8, groups[7]! & 255].join('.')
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array<string>(8 - head.length - tail.length).fill('0')
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}

/** Values that do not fit in a log line, or look like a hash, are replaced by their hash. */
function shown(value: string): string {
  const plain = value.length <= longestName && /^(?!hash:)[\x20-\x7e]*$/.test(value)
  return plain ? value : `hash:${digest(value)}`
}

/** Long enough to distinguish clients, too short to recover the value. */
function digest(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 12)
}
