/** What a program is sent of a client's headers, and what is made anew for this hop. */
import type { HttpRequest } from '../../wire/messages.ts'
import { endToEnd, valuesOf } from '../../wire/raw-headers.ts'

/** The front answers it. */
const answered: ReadonlySet<string> = new Set(['expect'])
/** These are taken to have a body unless told otherwise. */
const bodied = new Set(['POST', 'PUT', 'PATCH'])

/** A client's headers for a program, in their order and spelling, then those of this hop. */
export function requestHeaders(
  { method, headers, upgrade }: HttpRequest,
  hasBody: boolean,
  host: string,
): string[] {
  const sent = endToEnd(headers, { others: answered })
  if (valuesOf(sent, 'host').length === 0) sent.unshift('Host', host)
  const hasLength = valuesOf(sent, 'content-length').length > 0
  if (hasBody && !hasLength) sent.push('Transfer-Encoding', 'chunked')
  else if (!hasLength && bodied.has(method)) sent.push('Content-Length', '0')
  if (upgrade)
    return [...sent, 'Connection', 'Upgrade', 'Upgrade', valuesOf(headers, 'upgrade')[0] ?? 'websocket']
  // A connection for each request: see decisions/071-worker-programs.md.
  return [...sent, 'Connection', 'keep-alive']
}
