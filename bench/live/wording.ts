/** A job as an HTTP request: from a client to a cluster, or from a front to a worker. */
import type { Dispatcher } from 'undici'
import { type AttemptHead, attemptPath, headers } from '../../src/wire/messages.ts'
import { bearer } from '../../src/wire/token.ts'
import type { LiveJob } from './jobs.ts'

export type Worded = Pick<Dispatcher.RequestOptions, 'path' | 'headers' | 'body'>
export type Wording = (job: LiveJob, id: string) => Worded

export const forCluster: Wording = ({ workload, params, body }) => {
  if (!body) {
    const headers = { 'content-type': 'application/json' }
    return { path: `/${workload}`, headers, body: JSON.stringify(params) }
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) query.set(name, String(value))
  return { path: `/${workload}?${query}`, headers: { 'content-type': 'application/octet-stream' }, body }
}

/** `token`: undefined if a proxy adds it. The job asks for no `go`, since no brain would grant it. */
export function forWorker(token?: string): Wording {
  return ({ workload, params, body = new Uint8Array() }, id) => {
    const head: AttemptHead = {
      epoch: 1,
      job: id,
      attempt: 1,
      workload,
      params,
      work: 0,
      preemptible: true,
      ask: false,
    }
    const bytes = Buffer.from(JSON.stringify(head))
    return {
      path: attemptPath,
      headers: {
        ...(token !== undefined && { authorization: bearer(token) }),
        'content-type': 'application/octet-stream',
        [headers.headBytes]: `${bytes.length}`,
      },
      body: Buffer.concat([bytes, body]),
    }
  }
}
