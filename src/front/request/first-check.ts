/**
 * The first check of a request, before anything of it is used. What follows an ambiguous one on its connection may be part of it, so
 * nothing of that is served.
 */

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { StreamRequest } from '../http2/stream-request.ts'
import { RequestProblem } from '../problem.ts'
import { checkHead, checkVersion } from './check-head.ts'

/** `ignored`: it follows an ambiguous request, and its connection is being closed. */
type Found = 'clear' | 'ignored' | RequestProblem

export function firstCheck(): (request: IncomingMessage) => Found {
  const ambiguous = new WeakSet<Socket>()
  return (request) => {
    const isStream = request instanceof StreamRequest
    if (!isStream && ambiguous.has(request.socket)) return 'ignored'
    try {
      if (!isStream) checkVersion(request)
      checkHead(request)
      return 'clear'
    } catch (error) {
      if (!(error instanceof RequestProblem)) throw error
      // Streams do not depend on each other.
      if (!isStream) ambiguous.add(request.socket)
      return error
    }
  }
}
