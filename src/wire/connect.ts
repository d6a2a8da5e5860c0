/** Connects a worker or a front to the brain. */

import { request } from 'node:http'
import { WireError } from '../lib/errors.ts'
import { type Line, lines } from './lines.ts'
import { type FromBrain, type FromWorker, wirePath, wireProtocol } from './messages.ts'
import { bearer } from './token.ts'

/** Timeout of the upgrade request. */
const answerMs = 10_000

/** Rejects with a `WireError` that says why. */
export function connectToBrain<In = FromBrain, Out = FromWorker>(
  url: URL,
  token: string,
  onMessage: (message: In) => void,
  onClose: (error: Error | undefined) => void,
): Promise<Line<Out>> {
  return new Promise((resolve, reject) => {
    const call = request(new URL(wirePath, url), {
      headers: { connection: 'upgrade', upgrade: wireProtocol, authorization: bearer(token) },
      timeout: answerMs,
    })
    call.on('timeout', () => call.destroy(new Error(`no answer for ${answerMs / 1000} s`)))
    call.on('upgrade', (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      socket.setTimeout(0)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 10_000)
      resolve(lines<In, Out>(socket, onMessage, onClose))
    })
    call.on('response', (response) => {
      response.resume()
      const why = response.statusCode === 401 ? 'the token is wrong' : `it answered ${response.statusCode}`
      reject(new WireError(`cannot join ${url.origin}: ${why}`, response.statusCode === 401))
    })
    call.on('error', (error: NodeJS.ErrnoException) => {
      reject(new WireError(`cannot join ${url.origin}: ${error.code ?? error.message}`, false))
    })
    call.end()
  })
}
