/** What a request is for: its target as the client wrote it, and as an address that can be looked into. */

import type { IncomingMessage } from 'node:http'
import { RequestProblem } from '../problem.ts'

export interface Target {
  /** For the program: a path and a query, or `*`. */
  text: string
  /** For everybody else: without dots and fragments. */
  url: URL
}

/** `prefix` is taken off. Throws a 400 if it cannot be read. */
export function targetOf(request: IncomingMessage, prefix = ''): Target {
  const given = originForm(request.url ?? '/')
  const text = given.startsWith(prefix) ? given.slice(prefix.length) || '/' : given
  const url = text === '*' ? '/' : text
  // Two slashes at its beginning are no host.
  const whole = `http://front${url}`
  if (!url.startsWith('/') || !URL.canParse(whole)) {
    throw new RequestProblem(400, 'bad-url', 'The address of the request cannot be read.')
  }
  return { text, url: new URL(whole) }
}

/** Also in full form, as a proxy would ask. */
function originForm(target: string): string {
  const [, rest] = /^https?:\/\/[^/?#]*(.*)$/i.exec(target) ?? []
  if (rest === undefined) return target
  return rest.startsWith('/') ? rest : `/${rest}`
}
