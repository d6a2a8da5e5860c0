/** A front on a real socket, with everything behind it replaced: each accepted request is answered at once. */

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Estimator } from '../../src/estimate/estimator.ts'
import { keeperAway } from '../../src/front/durable/keeper-link.ts'
import { WaitingClients } from '../../src/front/durable/waiting-clients.ts'
import { frontDefaults, frontServer } from '../../src/front/front.ts'
import { clientNamer } from '../../src/front/request/client-name.ts'
import type { Submission } from '../../src/front/request/submit.ts'
import { type Serving, serviceOf } from '../../src/live/serving.ts'
import { httpWords, requestsOf } from './http-grammar.ts'
import { sendTo } from './send-bytes.ts'
import { errorsOf, holds, type Target, Violation } from './target.ts'

const limits = { ...frontDefaults, maxBytes: 20_000, memoryBytes: 2_000, requestMs: 5_000 }

const estimate = {
  work: 1,
  low: 1,
  high: 1,
  memoryMb: 1,
  source: 'prior',
  reason: { code: 'prior' },
} as const
const estimator: Estimator = { estimate: () => ({ ...estimate }), learn() {} }

/** What targets over HTTP have in common. */
export const httpTarget = {
  weight: 2,
  maxBytes: 64 * 1024,
  cpuMs: 2_000,
  words: httpWords,
  generate: requestsOf,
  declared: errorsOf(),
} satisfies Partial<Target>

export interface HttpWorld {
  /** Sends bytes on a new connection and returns everything that came back. Closes its side at once, unless it `waits`. */
  exchange(bytes: Buffer, waits?: boolean): Promise<string>
  close(): Promise<void>
}

/** `submit`: what becomes of an accepted request. Default: it is answered at once. */
export async function httpWorld(
  serving: Serving,
  submit: (submission: Submission) => void = answerAtOnce,
): Promise<HttpWorld> {
  const logged: string[] = []
  const log = (line: string) => logged.push(line)
  const server = frontServer({
    service: serviceOf(serving, { limits, quantities: [], log }),
    ...{
      estimator,
      limits,
      log,
      isReady: () => true,
      closed: () => undefined,
      now: () => Date.now(),
      submit,
    },
    clientOf: clientNamer('address'),
    keeper: { reach: () => Promise.reject(keeperAway(1_000)), waiting: new WaitingClients() },
    describeQuote: (_question, quote) => quote,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    async exchange(bytes, waits = false) {
      const text = await sendTo((server.address() as AddressInfo).port, bytes, waits)
      const internal = logged.splice(0).find((line) => line.startsWith('front:'))
      if (internal !== undefined) throw new Violation(`an internal error: ${internal}`)
      return text
    },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answerAtOnce({ receiver }: Submission): void {
  receiver.deliver({ status: 200, fields: { 'content-length': '2' }, body: Buffer.from('ok') }, {})
}

/** The statuses and problems of all answers on a connection. An answer of 500 is a bug of the front. */
export function answersOf(text: string): string {
  if (text === '') return 'no answer'
  holds(/^HTTP\/1\.1 \d{3} /.test(text), `not an HTTP answer: ${JSON.stringify(text.slice(0, 100))}`)
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status!)
  holds(!statuses.includes('500'), `an internal error: ${text.slice(0, 1000)}`)
  const problems = [...text.matchAll(/"type":"urn:plimsoll:([a-z-]+)"/g)].map(([, code]) => code!)
  return [...new Set([...statuses, ...problems])].join(' ')
}
