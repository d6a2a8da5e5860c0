/** Headers that are passed on between clients and programs. */

import type { IncomingMessage } from 'node:http'
import { endToEnd, valuesOf } from '../../wire/raw-headers.ts'

const forwarded = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'] as const
/** The front sends 100 Continue itself, and extends the forwarded headers. */
const remade: ReadonlySet<string> = new Set(['expect', ...forwarded])

/** A client's headers as the program receives them. */
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

/** A program's headers as the client receives them, followed by the headers about the job. */
export function answerHeaders(raw: readonly string[], account: Record<string, string>): string[] {
  const ours = new Set(Object.keys(account).filter((name) => name.startsWith('plimsoll-')))
  return [...endToEnd(raw, { others: ours }), ...Object.entries(account).flat()]
}
