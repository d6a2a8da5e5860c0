/** Follows a job by server-sent events: `accepted`, `progress` whenever something has changed, and `ended`. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JobStore, StoredJob } from '../store/store.ts'
import type { JobDocument } from './documents.ts'

export interface EventParts {
  store: Pick<JobStore, 'job'>
  id: string
  /** Resolves when the job has ended, if this cluster runs it. */
  ended(): Promise<void>
  describe(job: StoredJob): Promise<JobDocument>
  /** Aborted when the keeper ends: its clients connect again. */
  closing?: AbortSignal | undefined
}

/** How often the job is checked, and the longest silence: proxies close connections that are silent for longer. */
const [lookMs, silentMs] = [1_000, 15_000]

/**
 * A client that reconnects with `Last-Event-ID` gets what has changed since: ids count the states of the job that ended
 * connections have seen, and the last one is `ended`.
 */
export async function followJob(
  { store, id, ended, describe, closing }: EventParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const last = String(request.headers['last-event-id'] ?? '')
  if (last === 'ended') return void response.writeHead(204).end()
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  if (request.method === 'HEAD') return void response.end()
  let number = /^\d{1,15}$/.test(last) ? Number(last) : 0
  let told = ''
  let toldAt = performance.now()
  const send = (event: string, document: JobDocument, eventId: string) => {
    told = JSON.stringify(document)
    toldAt = performance.now()
    response.write(`event: ${event}\nid: ${eventId}\ndata: ${told}\n\n`)
  }
  const pauses = new Pauses(response, closing)
  while (!response.destroyed && !closing?.aborted) {
    const job = await store.job(id)
    if (!job) break
    const document = await describe(job)
    if (job.state !== 'open') {
      send('ended', document, 'ended')
      break
    }
    if (number === 0) send('accepted', document, `${++number}`)
    else if (JSON.stringify(document) !== told) send('progress', document, `${++number}`)
    else if (performance.now() - toldAt > silentMs) {
      toldAt = performance.now()
      response.write(':\n\n')
    }
    await pauses.pause(ended())
  }
  response.end()
}

/**
 * Pauses between looks. The end of the job or of the connection ends a pause early, once: a job that is open after its end
 * was reported runs at another keeper now.
 */
class Pauses {
  readonly #watched = new WeakSet<Promise<void>>()
  #hasEnded = false
  #wake = () => {}

  constructor(response: ServerResponse, closing: AbortSignal | undefined) {
    const wake = () => this.#wake()
    response.once('close', wake)
    closing?.addEventListener('abort', wake)
    response.once('close', () => closing?.removeEventListener('abort', wake))
  }

  async pause(ended: Promise<void>): Promise<void> {
    const pause = Promise.withResolvers<void>()
    this.#wake = pause.resolve
    if (!this.#hasEnded && !this.#watched.has(ended)) {
      this.#watched.add(ended)
      void ended.then(() => {
        this.#hasEnded = true
        this.#wake()
      })
    }
    const timer = setTimeout(pause.resolve, lookMs)
    await pause.promise
    clearTimeout(timer)
  }
}
