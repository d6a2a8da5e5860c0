/** The stack trace of the error in a user's file that another error is about. */

import { PlimsollError } from './errors.ts'
import { withOriginalPaths } from './kept-path.ts'

const ourSources = new URL('..', import.meta.url).href

/** Without frames in Node and in Plimsoll. Empty: no line is left that names a place in a file. */
export function causeStack(error: Error): string {
  const { cause } = error
  if (!(cause instanceof Error) || cause instanceof PlimsollError) return ''
  const lines = (cause.stack ?? '').split('\n').filter((line) => line.trim() !== '' && !isForeign(line))
  return lines.some((line) => /[\\/][^\\/]+:\d+/.test(line)) ? withOriginalPaths(lines.join('\n')) : ''
}

function isForeign(line: string): boolean {
  return /^\s+at /.test(line) && (line.includes('node:') || line.includes(ourSources))
}
