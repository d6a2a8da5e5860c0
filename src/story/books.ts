/** The workers, as far as stories need to know them: how many are ready, and what each has in its hands. */

import type { Action } from '../model/action.ts'
import type { WorkerFacts } from '../model/worker.ts'
import type { Entry, Story } from './story.ts'

export interface Book {
  readonly workPerSecond: number
  /** Jobs in its hands, and those of them that have no core. */
  held: number
  idle: number
  /** Those of them that lost their core to another. */
  readonly preempted: Set<Story>
  ready: boolean
  /** Attempts whose connection broke off: it may turn out that the worker is gone. */
  readonly brokeOff: Entry[]
}

/** So many of them are told if it does. */
const mostBrokeOff = 100

export class Books {
  readonly #books = new Map<string, Book>()
  ready = 0
  /** The sum of the rates of those that are ready. */
  #workPerSecond = 0

  of(worker: string): Book | undefined {
    return this.#books.get(worker)
  }

  /** How long so much work takes on the workers that are ready, if there are any. */
  msFor(work: number): number | undefined {
    return this.ready > 0 ? ((work * this.ready) / this.#workPerSecond) * 1000 : undefined
  }

  joined({ id, workPerSecond }: WorkerFacts): void {
    if (this.#books.has(id)) return
    this.#books.set(id, { workPerSecond, held: 0, idle: 0, preempted: new Set(), ready: true, brokeOff: [] })
    this.ready++
    this.#workPerSecond += workPerSecond
  }

  /** It is to drain, or is gone. */
  leaves({ type, worker, reason }: Extract<Action, { type: 'drain' | 'terminate' }>): void {
    const book = this.#books.get(worker)
    if (book?.ready) {
      book.ready = false
      this.ready--
      this.#workPerSecond -= book.workPerSecond
    }
    if (type !== 'terminate') return
    for (const entry of book?.brokeOff ?? []) entry.reason.gone = reason.message ?? ''
    this.#books.delete(worker)
  }

  /** An attempt came to nothing because its connection did. */
  broke(worker: string, entry: Entry): void {
    const brokeOff = this.#books.get(worker)?.brokeOff
    if (brokeOff && brokeOff.length < mostBrokeOff) brokeOff.push(entry)
  }
}

/** Another job runs there, before all that lost their cores and come under this rule. */
export function passes(book: Book | undefined, times: 1 | -1, since = -Infinity): void {
  if (book) for (const paused of book.preempted) if (paused.since >= since) paused.passedBy += times
}

/** The job is in nobody's hands any more. */
export function leave(story: Story): void {
  const { book } = story
  if (!book) return
  book.held--
  if (story.state === 'paused' || story.state === 'behind') book.idle--
  book.preempted.delete(story)
  story.book = undefined
}
