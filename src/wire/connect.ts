/** Connects a worker or a front to the brain: over TLS with `tls://`, on this machine with `http://`. */

import { type IncomingMessage, request } from 'node:http'
import { WireError } from '../lib/errors.ts'
import { type Line, lines } from './lines.ts'
import { type FromBrain, type FromWorker, wirePath, wireProtocol } from './messages.ts'
import { secureSocket, tlsFailure } from './secure.ts'
import { bearer, type Credential, roleHeader } from './token.ts'

/** Timeout of the upgrade request. */
const answerMs = 10_000
/** Longer explanations of a refusal are ignored. */
const longestRefusal = 1_000

/** How to connect: with the token of a role, and within this time. Default: 10 s. */
export interface Joining extends Credential {
  limitMs?: number
}

/** Rejects with a `WireError` that says why. */
export function connectToBrain<In = FromBrain, Out = FromWorker>(
  url: URL,
  { role, token, limitMs = answerMs }: Joining,
  onMessage: (message: In) => void,
  onClose: (error: Error | undefined) => void,
): Promise<Line<Out>> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, final = false) =>
      reject(new WireError(`cannot join ${originOf(url)}: ${why}`, final))
    const call = request({
      ...endpointOf(url),
      path: wirePath,
      headers: {
        ...{ connection: 'upgrade', upgrade: wireProtocol },
        ...{ authorization: bearer(token), [roleHeader]: role },
      },
      timeout: limitMs,
      ...(isSecure(url) && {
        createConnection: () => secureSocket(endpointOf(url), { identity: role, token }),
      }),
    })
    call.on('timeout', () => call.destroy(new Error(`no answer for ${limitMs / 1000} s`)))
    call.on('upgrade', (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      socket.setTimeout(0)
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 10_000)
      resolve(lines<In, Out>(socket, onMessage, onClose))
    })
    call.on('response', (response) => {
      const { statusCode = 0 } = response
      const isFinal = statusCode === 401 || statusCode === 403
      readRefusal(response).then(
        (why) => fail(why, isFinal),
        () => fail(`it answered ${statusCode}`, isFinal),
      )
    })
    call.on('error', (error: NodeJS.ErrnoException) => {
      const why = tlsFailure(error)
      fail(why, isSecure(url) && why === 'the token is wrong')
    })
    // The agent that would set it is not used.
    if (isSecure(url)) call.setTimeout(limitMs)
    call.end()
  })
}

/** True: the connection is encrypted, and both sides prove that they know the token. */
export function isSecure({ protocol }: URL): boolean {
  return protocol === 'tls:'
}

/** Host and port of an address to join. */
export function endpointOf({ hostname, port }: URL): { host: string; port: number } {
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 80) }
}

/** For people. `URL.origin` is null for `tls://`. */
export function originOf({ protocol, host }: URL): string {
  return `${protocol}//${host}`
}

/** The explanation of a brain; other servers get none of their text printed. */
async function readRefusal(response: IncomingMessage): Promise<string> {
  const { statusCode, headers } = response
  const isShort = Number(headers['content-length'] ?? Infinity) <= longestRefusal
  if (!isShort || headers['content-type'] !== 'text/plain') {
    response.resume()
    return `it answered ${statusCode}`
  }
  const text = Buffer.concat(await response.toArray()).toString('latin1')
  return text.replace(/[^\x20-\x7e]+/g, ' ').trim() || `it answered ${statusCode}`
}
