/**
 * Normalizes the path of a request, so that routes and programs see the same one. Dot segments are resolved; everything
 * else stays as sent. Paths that programs are known to read differently are rejected.
 */

import { RequestProblem } from '../problem.ts'

const invalidPercent = /%(?![0-9a-f]{2})/i
/** A path without these has no dot segment, not even a hidden one. */
const mayHaveDots = /\/(?:\.|%2e)|%2f|%5c/i
const encodedSeparator = /%2f|%5c/i
/** The parameters of a segment, which some servers drop before they resolve dot segments. */
const segmentParameters = /(?:;|%3b).*$/is

/** Throws a 400 if the path is invalid or ambiguous. */
export function normalizedPath(path: string): string {
  if (!path.startsWith('/')) throw badPath('must begin with /')
  if (path.includes('\\')) throw badPath('must not contain a backslash')
  if (path.includes('#')) throw badPath('must not contain #')
  if (invalidPercent.test(path)) throw badPath('has a % without two hexadecimal digits')
  if (path.includes('%00')) throw badPath('must not contain %00')
  return mayHaveDots.test(path) ? withoutDots(path) : path
}

function withoutDots(path: string): string {
  const kept: string[] = []
  const segments = path.slice(1).split('/')
  for (const [i, segment] of segments.entries()) {
    const plain = segment.replaceAll(/%2e/gi, '.')
    if (plain !== '.' && plain !== '..') {
      if (hidesDots(plain)) throw badPath('must not hide . or .. behind an encoded separator or a semicolon')
      kept.push(segment)
      continue
    }
    if (plain === '..' && kept.pop() === undefined) throw badPath('must not leave the root')
    // The path of a folder ends with a slash.
    if (i === segments.length - 1) kept.push('')
  }
  return `/${kept.join('/')}`
}

/** True: a server that decodes separators or drops parameters first would find a dot segment. */
function hidesDots(segment: string): boolean {
  return segment
    .split(encodedSeparator)
    .some((part) => ['.', '..'].includes(part.replace(segmentParameters, '')))
}

function badPath(why: string): RequestProblem {
  return new RequestProblem(400, 'bad-url', `The path of the request ${why}.`)
}
