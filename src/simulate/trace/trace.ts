/** Recorded traffic: what a trace holds once it is read, whatever its format. */

import type { Job } from '../../model/job.ts'
import type { NamedFile } from './lines.ts'

/** Requests one by one. */
export interface RecordedJobs {
  kind: 'jobs'
  /** When each arrived, ascending. */
  atMs: Float64Array
  /** The work of each, in seconds of a nominal core. */
  seconds: Float64Array
  /** What the recording system knew of each beforehand. */
  known?: readonly KnownJob[]
}

/** How many requests there were in each stretch of time, and no more. */
export interface RecordedCounts {
  kind: 'counts'
  /** When each stretch began, ascending. */
  atMs: Float64Array
  counts: Float64Array
  stretchMs: number
}

/** Work in units of the simulator; a deadline is counted from the arrival. */
export type KnownJob = Omit<Job, 'id' | 'deadlineAt'> & { deadlineMs?: number }

export interface Trace {
  readonly name: string
  readonly format: string
  /** Times are milliseconds since 1970 where true, else since the recording began. */
  readonly dated: boolean
  /** The moment at which simulated time begins. */
  readonly beginsMs: number
  readonly recorded: RecordedJobs | RecordedCounts
  /** What a reader of figures should know: how work was derived, what was missing. */
  readonly notes: readonly string[]
}

/** Reads one format, line by line. */
export interface TraceReader {
  line(text: string, number: number): void
  /** When all lines were read. */
  end(): Pick<Trace, 'dated' | 'recorded' | 'notes'>
}

export interface TraceOptions {
  /** Of the tokens of a language model: milliseconds of work for each token of context, and for each generated. */
  tokenMs: readonly [context: number, generated: number]
}

/** One format of traces. */
export interface TraceFormat {
  readonly name: string
  /** What its first line must be, for people. */
  readonly header: string
  /** Whether a file that begins with this line has this format. */
  recognises(firstLine: string): boolean
  /** Throws a `ConfigError` if the first line is not this format's. */
  begin(firstLine: string, file: NamedFile, options: TraceOptions): TraceReader
}
