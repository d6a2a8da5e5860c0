/** Rejects requests whose head programs could read in several ways. Node's parser rejects most others. */

import type { IncomingMessage } from 'node:http'
import { RequestProblem } from '../problem.ts'

/** Throws a 400. Node's parser also reads versions that are not HTTP/1, and what looks like HTTP/0.9 may hide a line break. */
export function checkVersion({ httpVersion }: Pick<IncomingMessage, 'httpVersion'>): void {
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    throw malformed(`HTTP/${httpVersion}: must be HTTP/1.1 or HTTP/1.0`)
}

/** Throws a 400. */
export function checkHead({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): void {
  const count = { host: 0, 'transfer-encoding': 0, 'content-length': 0 }
  let coding = ''
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (name !== 'host' && name !== 'transfer-encoding' && name !== 'content-length') continue
    count[name]++
    if (name === 'transfer-encoding') coding = rawHeaders[i + 1]!
  }
  if (count.host > 1) throw malformed('Host: must be given once')
  if (count['transfer-encoding'] === 0) return
  if (count['transfer-encoding'] > 1 || coding.toLowerCase() !== 'chunked')
    throw malformed(`Transfer-Encoding = ${coding.slice(0, 100)}: must be chunked, given once`)
  if (count['content-length'] > 0)
    throw malformed('Content-Length, Transfer-Encoding: only one of them may be given')
  if (httpVersion === '1.0') throw malformed('Transfer-Encoding: must not be given with HTTP/1.0')
}

function malformed(message: string): RequestProblem {
  // What follows on the connection may be part of this request.
  return new RequestProblem(400, 'bad-request', `${message}.`, { headers: { connection: 'close' } })
}
