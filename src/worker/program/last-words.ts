/** Why a program came to its end, or never became healthy: what was tried, and what it printed last. */
import { placeIn } from './command.ts'
import type { Sickness } from './health.ts'
import { portsOf } from './listening.ts'
import { seconds } from './words.ts'

export interface ProgramFacts {
  command: readonly string[]
  startMs: number
  /** Since it was started. */
  tookMs: number
  lastLine: string
  pids: Iterable<number>
}

const mostLength = 300
/** Whoever ends sooner did so at once. */
const atOnceMs = 2_000

export function whyNotHealthy(
  { why, silent }: Sickness,
  { command, startMs, lastLine, pids }: ProgramFacts,
): string {
  const after = seconds(startMs)
  const said = lastLine === '' ? '' : `; its last line: ${lastLine.slice(0, mostLength)}`
  if (!silent) return `not healthy after ${after}: ${why}${said}`
  const place = placeIn(command)
  const ports = place === 'socket' ? [] : portsOf(pids).map((port) => `port ${port}`)
  const listens = ports.length > 0 ? `; it listens on ${ports.join(', ')}` : ''
  const unheeded = place ? '' : '; its command has no {port}, and it does not heed PORT'
  return `${why} after ${after}${listens}${unheeded}${said}`
}

export function howItEnded(how: string, wasHealthy: boolean, { tookMs, lastLine }: ProgramFacts): string {
  const said = lastLine === '' ? '' : ` (last line: ${lastLine.slice(0, mostLength)})`
  if (wasHealthy) return `${how}${said}`
  if (tookMs > atOnceMs) return `${how} before it was healthy, after ${seconds(tookMs)}${said}`
  return `${how.replace(/^exited /, 'exited at once ')}${said}`
}
