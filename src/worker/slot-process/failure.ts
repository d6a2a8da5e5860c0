/** Why a job failed, as its slot reports it. */
import { inspect } from 'node:util'
import type { SlotFailure } from '../slots/frames.ts'

export function failureOf(error: unknown, kind: 'error' | 'crash'): SlotFailure {
  const message = error instanceof Error ? error.message : String(error)
  // The hard memory limit made an allocation fail. For a large allocation that is an exception, not a crash.
  if (error instanceof Error && /^(Array buffer allocation failed|Failed to allocate memory)/.test(message)) {
    return { kind: 'limit', message }
  }
  const failure = { kind, message: message || 'the workload failed without a message' }
  if (isForClient(error)) return { ...failure, status: error.status }
  const stack = error instanceof Error ? error.stack?.slice(0, longestStack) : undefined
  return { ...failure, ...(stack !== undefined && { stack }) }
}

const longestStack = 8_000

const slotFrame = new URL('.', import.meta.url).href

/** The error as the log shows it: without the frames of Node and of the slot, which say nothing of the workload. */
export function loggedError(error: unknown): string {
  const lines = inspect(error).split('\n')
  // A line that ends with a brace opens the list of the error's own fields.
  const isForeign = (line: string) =>
    /^\s+at .*[^{]$/.test(line) && (line.includes('node:') || line.includes(slotFrame))
  return lines.filter((line) => !isForeign(line)).join('\n')
}

/** A Refusal, also one of another copy of this package, or an error that says so as those of `http-errors` do. */
function isForClient(error: unknown): error is { status: number } {
  const { name, expose, status } = (error ?? {}) as { name?: unknown; expose?: unknown; status?: unknown }
  if (name !== 'Refusal' && expose !== true) return false
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 499
}
