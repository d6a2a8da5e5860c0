/** Sends one attempt of a request to a program: its head, then the client's body while it arrives. */

import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { limitConnecting } from '../../lib/limit-connecting.ts'
import { attemptPath, attemptProtocol, headers } from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import { drained } from '../drained.ts'
import type { Body } from '../request/body.ts'
import { aroundRequest } from './attempt-json.ts'
import { type AttemptContent, dispatchAttempt } from './dispatch.ts'
import type { Carried } from './transport.ts'
import { Received, type WorkerResponse } from './worker-response.ts'

/** Headers may contain whole heads in base64. */
const maxHeaderSize = 256 * 1024

/** Time allowed for a connection to a worker. */
const usualConnectMs = 10_000

/** A worker's answer; `upgraded` if the program switches protocols. */
export interface WorkerAnswer {
  response: WorkerResponse
  upgraded?: { socket: Duplex; first: Buffer }
}

/** A client's request to a program. */
export interface ProgramRequest {
  /** The members of an attempt's head that describe it, as JSON. */
  request: Buffer
  body: Body
  /** True: the client asks to switch protocols. */
  switching: boolean
}

export interface Call {
  /** Rejects if the worker does not answer. */
  answer: Promise<WorkerAnswer>
  /** Aborts the call unless it has completed. */
  done(): void
}

export function sendAttempt(carried: Carried, asked: ProgramRequest): Call {
  const { start, end } = aroundRequest(carried.order)
  const json = Buffer.concat([start, asked.request, end])
  const content = asked.switching ? undefined : wholeContent(json, asked.body)
  if (!content) return sendParts(carried, asked, json)
  const { response, done } = dispatchAttempt(carried, content)
  return { answer: response.then((response) => ({ response })), done }
}

/** Undefined: the body has not arrived, is in a file, or has trailers or no announced length. */
function wholeContent(json: Buffer, body: Body): AttemptContent | undefined {
  const bytes = body.announced === undefined ? undefined : body.inMemory()
  return (
    bytes && { headBytes: json.length, content: bytes.length === 0 ? json : Buffer.concat([json, bytes]) }
  )
}

/** Sends the body while it arrives, with its trailers; or asks to switch protocols. */
function sendParts(
  { upstream, token, signal, connectMs = usualConnectMs }: Carried,
  { body, switching }: ProgramRequest,
  json: Buffer,
): Call {
  // A body that arrives in chunks is sent in chunks, even if it is empty: it may have trailers.
  const { announced } = body
  const call = request({
    ...upstream.address,
    agent: upstream.agent,
    method: switching ? 'GET' : 'POST',
    path: attemptPath,
    signal,
    maxHeaderSize,
    headers: {
      authorization: bearer(token),
      ...(switching
        ? { connection: 'upgrade', upgrade: attemptProtocol, [headers.head]: json.toString('base64url') }
        : {
            'content-type': 'application/octet-stream',
            [headers.headBytes]: `${json.length}`,
            ...(announced !== undefined && { 'content-length': `${json.length + announced}` }),
          }),
    },
  })
  limitConnecting(call, connectMs)
  let received: IncomingMessage | undefined
  const answer = answerOf(call)
  call.once('response', (response) => {
    received = response
  })
  if (switching) call.end()
  else pump(call, json, body).catch(() => call.destroy())
  return {
    answer,
    done: () => {
      if (!call.writableFinished || !received?.complete) call.destroy()
    },
  }
}

function answerOf(call: ClientRequest): Promise<WorkerAnswer> {
  return new Promise((resolve, reject) => {
    call.on('error', reject)
    call.once('response', (response) => resolve({ response: new Received(response) }))
    call.once('upgrade', (response, socket, first) =>
      resolve({ response: new Received(response), upgraded: { socket, first } }),
    )
  })
}

async function pump(call: ClientRequest, head: Buffer, body: Body): Promise<void> {
  call.write(head)
  const chunks = body.open()
  let next = chunks.next()
  for (;;) {
    const { value, done } = await next
    if (done || call.destroyed) break
    // The next chunk is read from its file while the worker takes this one.
    next = chunks.next()
    next.catch(() => {})
    if (!call.write(value)) await drained(call)
  }
  if (call.destroyed) return
  if (body.trailers.length > 0) call.addTrailers([[headers.trailers, JSON.stringify(body.trailers)]])
  call.end()
}
