/** `/api/cache/KEY` of the admin port: the cluster's answer cache, for fronts in other processes. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AnswerCache } from '../front/cache/answer-cache.ts'
import { RequestProblem, sendProblem } from '../front/problem.ts'
import { cachePath, keptHeader, readKeptHead, writeKeptHead } from '../wire/cache-messages.ts'
import { type Tokens, tokenRefusal } from '../wire/token.ts'

export interface CacheParts {
  tokens: Tokens
  /** Undefined: answers are not cached. */
  cache: AnswerCache | undefined
}

/** SHA-256 in base64url. */
const keyForm = /^[\w-]{43}$/

/** Serves requests to the cache; false: the request is for something else. Throws a problem if it is malformed. */
export function serveCache(
  { tokens, cache }: CacheParts,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { url = '', method, headers } = request
  if (!url.startsWith(cachePath)) return false
  const refusal = tokenRefusal(headers.authorization, 'front', tokens)
  if (refusal) throw new RequestProblem(refusal.status, 'not-authorized', `The cache: ${refusal.message}.`)
  const key = url.slice(cachePath.length)
  if (!keyForm.test(key)) {
    throw new RequestProblem(404, 'not-found', 'A key is a SHA-256 in base64url, 43 characters.')
  }
  if (!cache) throw new RequestProblem(404, 'not-found', 'This cluster has no cache.')
  // A kept answer whose head HTTP does not allow is not given.
  if (method === 'GET') give(cache, key, response).catch(() => response.destroy())
  else if (method === 'PUT') void take(cache, key, request, response)
  else {
    const allow = { headers: { allow: 'GET, PUT' } }
    throw new RequestProblem(405, 'wrong-method', `${method} is not allowed here; GET and PUT are.`, allow)
  }
  return true
}

async function give(cache: AnswerCache, key: string, response: ServerResponse): Promise<void> {
  const found = await cache.get(key)
  if (!found) return miss(response)
  const { answer, account, ageMs, leftMs } = found
  const { body, ...head } = answer
  const kept = writeKeptHead({ ...head, account, ageMs, goodMs: leftMs })
  if (kept === undefined) return miss(response)
  response.writeHead(200, { [keptHeader]: kept, 'content-length': body.length }).end(body)
}

function miss(response: ServerResponse): void {
  response.writeHead(404, { 'content-length': 0 }).end()
}

async function take(
  cache: AnswerCache,
  key: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const began = performance.now()
  try {
    const head = readKeptHead(request.headers[keptHeader])
    if (!head) throw new RequestProblem(400, 'bad-request', `${keptHeader} must be the head of an answer.`)
    const body = await read(request, cache.mostAnswerBytes)
    const { status, fields, account, goodMs = Infinity } = head
    const ageMs = head.ageMs + performance.now() - began
    cache.put(key, { answer: { status, fields, body }, account, ageMs }, goodMs)
    response.writeHead(204).end()
  } catch (error) {
    // Else the front disconnected before its answer was complete.
    if (!(error instanceof RequestProblem)) return void response.destroy()
    response.shouldKeepAlive = false
    sendProblem(response, error)
  }
}

async function read(request: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  const tooLong = () =>
    new RequestProblem(413, 'too-large', `The cache accepts bodies of up to ${mostBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLong()
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > mostBytes) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
