/** What a program gets of a client's headers, and a client of a program's. */

import type { IncomingMessage } from 'node:http'
import { endToEnd, valuesOf } from '../../wire/raw-headers.ts'

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
  return [...endToEnd(rawHeaders, { others: remade }), ...extended, ...switching]
}

/** What the client gets of a program's headers, and what is said of the job besides. */
export function answerHeaders(raw: readonly string[], account: Record<string, string>): string[] {
  const ours = new Set(Object.keys(account).filter((name) => name.startsWith('plimsoll-')))
  return [...endToEnd(raw, { others: ours }), ...Object.entries(account).flat()]
}
