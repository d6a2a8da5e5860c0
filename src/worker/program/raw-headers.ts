/** Headers as they were sent, name and value in turn: which of them go on, and what is made anew for this hop. */
import type { HttpRequest } from '../../wire/messages.ts'

const ofOneHop = new Set([
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Without those that are meant for one hop only, and those that Connection names; with those of them that `but` names. */
export function endToEnd(raw: readonly string[], but: readonly string[] = []): string[] {
  const named = new Set(valuesOf(raw, 'connection').flatMap((value) => value.toLowerCase().split(/\s*,\s*/)))
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    const dropped = ofOneHop.has(name) || name.startsWith('proxy-') || named.has(name)
    if (!dropped || but.includes(name)) kept.push(raw[i]!, raw[i + 1]!)
  }
  return kept
}

export function valuesOf(raw: readonly string[], name: string): string[] {
  return raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === name)
}

export function pairsOf(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i]!, raw[i + 1]!])
  return pairs
}

/** These are taken to have a body unless told otherwise. */
const bodied = new Set(['POST', 'PUT', 'PATCH'])

/** A client's headers for a program, in their order and spelling, then those of this hop. */
export function requestHeaders(
  { method, headers, upgrade }: HttpRequest,
  hasBody: boolean,
  host: string,
): string[] {
  const sent = endToEnd(headers)
  if (valuesOf(sent, 'host').length === 0) sent.unshift('Host', host)
  const hasLength = valuesOf(sent, 'content-length').length > 0
  if (hasBody && !hasLength) sent.push('Transfer-Encoding', 'chunked')
  else if (!hasLength && bodied.has(method)) sent.push('Content-Length', '0')
  if (upgrade)
    return [...sent, 'Connection', 'Upgrade', 'Upgrade', valuesOf(headers, 'upgrade')[0] ?? 'websocket']
  // A connection for each request: see decisions/071-worker-programs.md.
  return [...sent, 'Connection', 'keep-alive']
}
