/** The headers of a request to a program: the client's headers, and those of this hop. */
import type { HttpRequest } from '../../wire/messages.ts'
import { endToEnd, valuesOf } from '../../wire/raw-headers.ts'

/** Handled by the front. */
const answered: ReadonlySet<string> = new Set(['expect'])
/** Methods whose requests are assumed to have a body unless a length of 0 is sent. */
const withBody = new Set(['POST', 'PUT', 'PATCH'])

/** Keeps the order and spelling of the client's headers. */
export function requestHeaders(
  { method, headers, upgrade }: HttpRequest,
  hasBody: boolean,
  host: string,
): string[] {
  const sent = endToEnd(headers, { others: answered })
  if (valuesOf(sent, 'host').length === 0) sent.unshift('Host', host)
  const hasLength = valuesOf(sent, 'content-length').length > 0
  if (hasBody && !hasLength) sent.push('Transfer-Encoding', 'chunked')
  else if (!hasLength && withBody.has(method)) sent.push('Content-Length', '0')
  if (upgrade)
    return [...sent, 'Connection', 'Upgrade', 'Upgrade', valuesOf(headers, 'upgrade')[0] ?? 'websocket']
  // Also if the worker closes the connection: see decisions/071-worker-programs.md.
  return [...sent, 'Connection', 'keep-alive']
}
