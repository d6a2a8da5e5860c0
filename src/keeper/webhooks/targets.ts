/** Where webhooks may go: to hosts that the configuration names, never to an address of the inner network by accident. */

import { BlockList, isIP } from 'node:net'

/** Not reachable from the internet, or not meant to be: RFC 6890 and its successors. */
const inner = new BlockList()
for (const [net, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 3],
  ] as const),
])
  inner.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['100::', 64],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  inner.addSubnet(net, bits, 'ipv6')

export function isInner(address: string): boolean {
  const kind = isIP(address)
  if (kind === 0) return true
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return inner.check(mapped, 'ipv4')
  return inner.check(address, kind === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Why a webhook may not go there; undefined: it may. `hosts`: names, `*.name` for all names below one, or `*` for all that
 * are not inner addresses.
 */
export function targetProblem(text: string, hosts: readonly string[]): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https address'
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  if (hosts.length === 0) return 'this cluster sends no webhooks (--webhook-hosts)'
  const host = hostOf(url)
  if (isNamed(host, hosts)) return undefined
  if (!hosts.includes('*')) return `must be at one of the hosts ${hosts.join(', ')}`
  return isInnerHost(host)
    ? `must not be on an inner network, unless --webhook-hosts names ${host}`
    : undefined
}

/** Names that are inner whatever the resolver says (RFC 6761), and addresses. */
function isInnerHost(host: string): boolean {
  return isIP(host) > 0 ? isInner(host) : /^(.*\.)?localhost\.?$/.test(host)
}

/** True: the configuration names the host, whatever its address is. */
export function isNamed(host: string, hosts: readonly string[]): boolean {
  return hosts.some((each) => each === host || (each.startsWith('*.') && host.endsWith(each.slice(1))))
}

/** Without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase()
}
