/** Headers as lists of names and values in turn: what is passed on, what ends at each hop, and what is added. */

import type { IncomingMessage } from 'node:http'

const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
])
/** Without them a message means something else: whatever `connection` says, they are passed on. */
const essential: ReadonlySet<string> = new Set(['host', 'content-length', 'content-type'])

export function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length >> 1 }, (_, i) => [raw[2 * i]!, raw[2 * i + 1]!])
}

/** All values of a header, in their order. */
export function valuesOf(raw: readonly string[], name: string): string[] {
  return pairsOf(raw)
    .filter(([each]) => each.toLowerCase() === name)
    .map(([, value]) => value)
}

/** Without those that are only for the next hop, those that `connection` names, and `others`. */
export function endToEnd(raw: readonly string[], others: ReadonlySet<string> = new Set()): string[] {
  const named = valuesOf(raw, 'connection')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !essential.has(name))
  const isDropped = (name: string) =>
    hopByHop.has(name) || name.startsWith('proxy-') || named.includes(name) || others.has(name)
  return pairsOf(raw)
    .filter(([name]) => !isDropped(name.toLowerCase()))
    .flat()
}

const forwarded = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const
/** The front sends the 100 itself; who is behind it is told anew. */
const remade: ReadonlySet<string> = new Set(['expect', ...forwarded])

/** What the program gets of a client's headers. */
export function requestHeaders(request: IncomingMessage, upgrade: boolean): string[] {
  const { rawHeaders, headers, socket } = request
  const added: Record<(typeof forwarded)[number], string> = {
    'x-forwarded-for': (socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, ''),
    'x-forwarded-proto': 'http',
    'x-forwarded-host': headers.host ?? '',
  }
  const extended = forwarded.flatMap((name) => {
    const values = [...valuesOf(rawHeaders, name), added[name]].filter((value) => value !== '')
    return values.length > 0 ? [name, values.join(', ')] : []
  })
  const switching = upgrade ? ['connection', 'upgrade', 'upgrade', headers.upgrade ?? ''] : []
  return [...endToEnd(rawHeaders, remade), ...extended, ...switching]
}

/** What the client gets of a program's headers, and what is said of the job besides. */
export function answerHeaders(raw: readonly string[], account: Record<string, string>): string[] {
  const ours = new Set(Object.keys(account).filter((name) => name.startsWith('plimsoll-')))
  return [...endToEnd(raw, ours), ...Object.entries(account).flat()]
}
