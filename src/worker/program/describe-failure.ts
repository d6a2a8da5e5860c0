/** Describes why a program exited or did not become healthy, with the last line that it printed. */
import { placeholderIn } from './command.ts'
import { duration } from './error-messages.ts'
import type { HealthProblem } from './health.ts'
import { portsOf } from './listening-ports.ts'

export interface ProgramFacts {
  command: readonly string[]
  startMs: number
  /** Time since its start. */
  ageMs: number
  lastLine: string
  /** Time since it was printed. */
  lastLineAgeMs: number
  pids: Iterable<number>
}

const maxLineLength = 300
/** A program that exits within this time "exited at once". */
const atOnceMs = 2_000
/** An older line probably says nothing about the exit. */
const staleMs = 5_000

export function describeUnhealthy(
  { message, refused }: HealthProblem,
  { command, startMs, lastLine, pids }: ProgramFacts,
): string {
  const after = duration(startMs)
  const output = lastLine === '' ? '' : `; its last line: ${lastLine.slice(0, maxLineLength)}`
  if (!refused) return `not healthy after ${after}: ${message}${output}`
  const placeholder = placeholderIn(command)
  const ports = placeholder === 'socket' ? [] : portsOf(pids).map((port) => `port ${port}`)
  const listens = ports.length > 0 ? `; it listens on ${ports.join(', ')}` : ''
  const hint = placeholder ? '' : '; its command has no {port}, and it ignores PORT'
  return `${message} after ${after}${listens}${hint}${output}`
}

export function describeExit(how: string, wasHealthy: boolean, facts: ProgramFacts): string {
  const { ageMs, lastLine } = facts
  // The helper that starts a program prints this if there is no such program.
  const [, reason] = /^setpriv: failed to execute (.+)$/.exec(lastLine) ?? []
  if (reason !== undefined && !wasHealthy) return `could not be started: ${reason}`
  const output = lastLine === '' ? '' : ` (${lastLineText(facts)}: ${lastLine.slice(0, maxLineLength)})`
  if (wasHealthy) return `${how}${output}`
  if (ageMs > atOnceMs) return `${how} before it was healthy, after ${duration(ageMs)}${output}`
  return `${how.replace(/^exited /, 'exited at once ')}${output}`
}

function lastLineText({ lastLineAgeMs }: ProgramFacts): string {
  return lastLineAgeMs < staleMs ? 'last line' : `its last line, ${duration(lastLineAgeMs)} before, was`
}
