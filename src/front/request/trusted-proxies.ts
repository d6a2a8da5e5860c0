/** Proxies whose `Forwarded` and `X-Forwarded-*` headers are believed. */

import { BlockList, isIP } from 'node:net'
import { ConfigError } from '../../lib/errors.ts'

/** True: a proxy has this address. */
export type IsTrusted = (address: string | undefined) => boolean

/** Reads addresses and CIDR blocks, separated by commas. Throws a `ConfigError` that names `option`. */
export function readProxies(text: string, option: string): string[] {
  const proxies = text.split(',').map((proxy) => proxy.trim())
  for (const proxy of proxies) {
    if (blockOf(proxy)) continue
    throw new ConfigError(
      `${option} = ${text}: ${proxy || 'nothing'} must be an address or a block such as 10.0.0.0/8 or fd00::/8`,
    )
  }
  return proxies
}

export function trustedProxies(proxies: readonly string[]): IsTrusted {
  if (proxies.length === 0) return () => false
  const list = new BlockList()
  for (const proxy of proxies) {
    const block = blockOf(proxy)
    if (block) list.addSubnet(block.address, block.bits, block.family)
  }
  return (address = '') => {
    const plain = unmapped(address)
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
}

/** An IPv4 address that arrived at an IPv6 socket, as IPv4. */
export function unmapped(address: string): string {
  if (!address.includes(':')) return address
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/s, '')
}

function blockOf(text: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [, address = '', given] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0 || address.includes('%')) return undefined
  const most = version === 4 ? 32 : 128
  const bits = Number(given ?? most)
  return bits > most ? undefined : { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' }
}
