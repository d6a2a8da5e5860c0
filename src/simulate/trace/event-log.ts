/**
 * Plimsoll's own event log, simulated or live: arrivals with the known facts of each job, and the measured work of
 * finished jobs. Work is converted to seconds by the rate that the log's workers announced.
 */

import { checkFacts, checkJob } from '../../brain/jobs/checks.ts'
import { decodeEntry, decodeGap, decodeHeader } from '../../brain/log/log.ts'
import { ConfigError, PlimsollError } from '../../lib/errors.ts'
import type { Event } from '../../model/event.ts'
import type { Job } from '../../model/job.ts'
import type { WorkerFacts } from '../../model/worker.ts'
import { Numbers } from '../numbers.ts'
import { unitsPerSecond } from '../simulate.ts'
import type { NamedFile } from './lines.ts'
import type { KnownJob, Trace, TraceFormat } from './trace.ts'

/** Times above this are dates, from a live cluster. */
const datedFromMs = 1e11

export const eventLog: TraceFormat = {
  name: 'event-log',
  header: '{"plimsoll":"event-log",…}',
  recognises: (firstLine) => firstLine.startsWith('{') && firstLine.includes('"event-log"'),
  begin(firstLine, file) {
    sound(file, () => decodeHeader(firstLine))
    const log = new LoggedJobs()
    return {
      line: (text, number) => sound(file, () => log.take(text, number)),
      end: () => log.trace(),
    }
  },
}

class LoggedJobs {
  readonly #atMs = new Numbers()
  /** Work in the log's units; NaN until the job finishes. */
  readonly #work = new Numbers()
  readonly #known: KnownJob[] = []
  /** Unfinished jobs, by id. */
  readonly #open = new Map<string, number>()
  #rates = 0
  #workers = 0
  /** Entries that could not be written. */
  #lost = 0

  take(text: string, number: number): void {
    const lost = decodeGap(text)
    if (lost !== undefined) {
      this.#lost += lost
      return
    }
    const { at, event } = decodeEntry(text, number)
    try {
      this.#apply(at, event)
    } catch (error) {
      throw error instanceof PlimsollError ? new ConfigError(`line ${number}: ${error.message}`) : error
    }
  }

  #apply(at: number, event: Event): void {
    if (event.type === 'arrived') this.#arrive(at, event.job)
    else if (event.type === 'joined') this.#join(event.worker)
    else if (event.type === 'finished') {
      const index = this.#open.get(event.job)
      // A superseded attempt that also finishes has done the same work.
      if (index === undefined) return
      if (!(event.work >= 0 && event.work < Infinity))
        throw new ConfigError(`finished: work = ${event.work}: must be a number, 0 or more`)
      this.#work.set(index, event.work)
      this.#open.delete(event.job)
    }
  }

  #arrive(at: number, job: Job): void {
    if (typeof job !== 'object' || job === null || typeof job.id !== 'string')
      throw new ConfigError('arrived: must have a "job" with an "id"')
    checkJob(job)
    if (this.#open.has(job.id)) throw new ConfigError(`job ${job.id} arrives twice`)
    this.#open.set(job.id, this.#atMs.length)
    // A clock that is set back stands still, as in the brain.
    this.#atMs.push(this.#atMs.length === 0 ? at : Math.max(at, this.#atMs.at(this.#atMs.length - 1)))
    this.#work.push(Number.NaN)
    const { id: _, deadlineAt, ...known } = job
    this.#known.push(
      deadlineAt === undefined ? known : { ...known, deadlineMs: Math.max(0, deadlineAt - at) },
    )
  }

  #join(worker: WorkerFacts): void {
    if (typeof worker !== 'object' || worker === null) throw new ConfigError('joined: must have a "worker"')
    checkFacts(worker)
    this.#rates += worker.workPerSecond
    this.#workers++
  }

  trace(): Pick<Trace, 'dated' | 'recorded' | 'notes'> {
    const count = this.#atMs.length
    const rate = this.#workers === 0 ? unitsPerSecond : this.#rates / this.#workers
    const scale = unitsPerSecond / rate
    const known = this.#known.map((job) => scaled(job, scale))
    const seconds = this.#work
      .view()
      .map((work, i) => (Number.isNaN(work) ? this.#known[i]!.work : work) / rate)
    const notes: string[] = []
    if (this.#open.size > 0) {
      notes.push(
        `${this.#open.size.toLocaleString('en-US')} of ${count.toLocaleString('en-US')} jobs never finished; their estimates are used.`,
      )
    }
    if (this.#lost > 0)
      notes.push(`${this.#lost.toLocaleString('en-US')} entries could not be written to this log.`)
    if (this.#workers === 0)
      notes.push(
        `No worker joined in this log; ${unitsPerSecond.toLocaleString('en-US')} units of work count as a second.`,
      )
    return {
      dated: count > 0 && this.#atMs.at(0) > datedFromMs,
      recorded: { kind: 'jobs', atMs: this.#atMs.view(), seconds, known },
      notes,
    }
  }
}

function scaled(job: KnownJob, scale: number): KnownJob {
  const { work, low, high } = job
  return {
    ...job,
    work: work * scale,
    ...(low !== undefined && { low: low * scale }),
    ...(high !== undefined && { high: high * scale }),
  }
}

/** Errors of the log reader name the line; this adds the file. */
function sound<T>(file: NamedFile, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(`${file.option} = ${file.path}: ${error.message}`)
  }
}
