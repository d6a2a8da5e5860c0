/** Follows a job by server-sent events: `accepted`, `progress` whenever something has changed, and `ended`. */

import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { StoredJob } from '../store/store.ts'
import type { JobDocument } from './documents.ts'

export interface EventParts {
  /** Reads the job. */
  job(): Promise<StoredJob | undefined>
  /** Resolves when the job has ended, if this cluster runs it. */
  ended(): Promise<void>
  describe(job: StoredJob): Promise<JobDocument>
  /** Aborted when the keeper ends: its clients connect again. */
  closing?: AbortSignal | undefined
}

/** How often the job is checked, and the longest silence: proxies close connections that are silent for longer. */
export const lookMs = 1_000
const silentMs = 15_000

/**
 * The id of an event tells what its client has seen: it is a hash of the document, or `ended`. A client that reconnects with
 * `Last-Event-ID` gets the present state only if it is another one. States in between are not kept.
 */
export async function followJob(
  { job: read, ended, describe, closing }: EventParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const last = String(request.headers['last-event-id'] ?? '')
  if (last === 'ended') return void response.writeHead(204).end()
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  if (request.method === 'HEAD') return void response.end()
  let seen = last
  let toldAt = performance.now()
  const send = (event: string, text: string, eventId: string) => {
    seen = eventId
    toldAt = performance.now()
    response.write(`event: ${event}\nid: ${eventId}\ndata: ${text}\n\n`)
  }
  const pauses = new Pauses(response, closing)
  while (!response.destroyed && !closing?.aborted) {
    const job = await read()
    if (!job) break
    const text = JSON.stringify(await describe(job))
    const eventId = idOf(text)
    if (job.state !== 'open') {
      send('ended', text, 'ended')
      break
    }
    if (eventId !== seen) send(seen === '' ? 'accepted' : 'progress', text, eventId)
    else if (performance.now() - toldAt > silentMs) {
      toldAt = performance.now()
      response.write(':\n\n')
    }
    await pauses.pause(ended())
  }
  response.end()
}

function idOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
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
