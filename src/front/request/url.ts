/** The URL of a request: its normalized path, which routes match and programs receive, and its query as sent. */

import type { IncomingMessage } from 'node:http'
import { RequestProblem } from '../problem.ts'
import { normalizedPath } from './path.ts'

export interface RequestUrl {
  /** Path and query, or `*`: what a program receives. */
  text: string
  /** Normalized. */
  path: string
  /** As sent, without `?`. */
  query: string
  /** Removed from the front of the path. */
  prefix: string
  /** The host that the URL names, which takes precedence over the `Host` header. Undefined: it names none. */
  host?: string
}

/** Throws a 400 if the URL cannot be parsed. */
export function readUrl({ url = '/' }: Pick<IncomingMessage, 'url'>): RequestUrl {
  const { target, host } = originForm(url)
  const named = host === undefined ? {} : { host }
  if (target === '*') return { text: '*', path: '/', query: '', prefix: '' }
  const at = target.indexOf('?')
  if (at < 0) {
    const path = normalizedPath(target)
    return { text: path, path, query: '', prefix: '', ...named }
  }
  const path = normalizedPath(target.slice(0, at))
  const query = target.slice(at + 1)
  if (query.includes('#')) throw unreadable()
  return { text: `${path}?${query}`, path, query, prefix: '', ...named }
}

/** The URL behind a prefix of its path. */
export function withoutPrefix(url: RequestUrl, prefix: string): RequestUrl {
  const path = url.path.slice(prefix.length) || '/'
  return { ...url, path, text: path + url.text.slice(url.path.length), prefix }
}

export function unreadable(): RequestProblem {
  return new RequestProblem(400, 'bad-url', 'The URL of the request cannot be read.')
}

/** Requests to a proxy name a host too. */
function originForm(sent: string): { target: string; host?: string } {
  const [, host, rest] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(sent) ?? []
  if (host === undefined || rest === undefined) return { target: sent }
  if (host.includes('@') || !URL.canParse(sent)) throw unreadable()
  return { target: rest.startsWith('/') ? rest : `/${rest}`, host }
}
