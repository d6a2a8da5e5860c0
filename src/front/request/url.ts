/** The URL of a request: as the client wrote it, and parsed. */

import type { IncomingMessage } from 'node:http'
import { RequestProblem } from '../problem.ts'

export interface RequestUrl {
  /** Path and query as sent, or `*`: what a program receives. */
  text: string
  /** Normalized: no dot segments, no fragment. */
  url: URL
  /** Removed from the front of both. */
  prefix: string
}

/** Throws a 400 if the URL cannot be parsed. */
export function readUrl(request: IncomingMessage): RequestUrl {
  const text = originForm(request.url ?? '/')
  const path = text === '*' ? '/' : text
  // A path may begin with two slashes; what follows them is no host.
  const whole = `http://front${path}`
  if (!path.startsWith('/') || !URL.canParse(whole)) throw unreadable()
  return { text, url: new URL(whole), prefix: '' }
}

/** The URL behind a prefix of its path. */
export function withoutPrefix({ text, url }: RequestUrl, prefix: string): RequestUrl {
  return {
    text: text.startsWith(prefix) ? text.slice(prefix.length) || '/' : text,
    url: new URL(`http://front${url.pathname.slice(prefix.length) || '/'}${url.search}`),
    prefix,
  }
}

export function unreadable(): RequestProblem {
  return new RequestProblem(400, 'bad-url', 'The URL of the request cannot be read.')
}

/** Requests to a proxy name a host too. */
function originForm(target: string): string {
  const [, rest] = /^https?:\/\/[^/?#]*(.*)$/i.exec(target) ?? []
  if (rest === undefined) return target
  if (!URL.canParse(target)) throw unreadable()
  return rest.startsWith('/') ? rest : `/${rest}`
}
