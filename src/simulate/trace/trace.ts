/** Recorded traffic, as read from a trace of any format. */

import type { Job } from '../../model/job.ts'
import type { NamedFile } from './lines.ts'

/** Individual requests. */
export interface RecordedJobs {
  kind: 'jobs'
  /** Arrival times, ascending. */
  atMs: Float64Array
  /** The work of each, in seconds of a nominal core. */
  seconds: Float64Array
  /** What the recording system knew about each job at its arrival. */
  known?: readonly KnownJob[]
}

/** Only the number of requests per interval. */
export interface RecordedCounts {
  kind: 'counts'
  /** The start of each interval, ascending. */
  atMs: Float64Array
  counts: Float64Array
  stretchMs: number
}

/** Work in units of the simulator; deadlines relative to the arrival. */
export type KnownJob = Omit<Job, 'id' | 'deadlineAt'> & { deadlineMs?: number }

export interface Trace {
  readonly name: string
  readonly format: string
  /** True: times are milliseconds since 1970. False: since the start of the recording. */
  readonly dated: boolean
  /** The time of the trace at which simulated time begins. */
  readonly beginsMs: number
  readonly recorded: RecordedJobs | RecordedCounts
  /** Caveats for readers of the figures: how work was derived, what was missing. */
  readonly notes: readonly string[]
}

/** Reads one format, line by line. */
export interface TraceReader {
  line(text: string, number: number): void
  /** Called after the last line. */
  end(): Pick<Trace, 'dated' | 'recorded' | 'notes'>
}

export interface TraceOptions {
  /** For traces of language models: milliseconds of work per token of context, and per generated token. */
  tokenMs: readonly [context: number, generated: number]
}

/** One format of traces. */
export interface TraceFormat {
  readonly name: string
  /** The required first line, for people. */
  readonly header: string
  /** True: a file that begins with this line has this format. */
  recognises(firstLine: string): boolean
  /** Throws a `ConfigError` if the first line is not this format's. */
  begin(firstLine: string, file: NamedFile, options: TraceOptions): TraceReader
}
