/** Sends one attempt of a request to a program: its head, then the client's body while it arrives. */

import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { limitConnecting } from '../../lib/limit-connecting.ts'
import { attemptPath, attemptProtocol, headers } from '../../wire/messages.ts'
import { bearer } from '../../wire/token.ts'
import { drained } from '../drained.ts'
import type { Body } from '../request/body.ts'
import { aroundRequest } from './attempt-json.ts'
import type { Carried } from './transport.ts'

/** Headers may contain whole heads in base64. */
const maxHeaderSize = 256 * 1024

/** Time allowed for a connection to a worker. */
const connectMs = 10_000

/** A worker's answer; `upgraded` if the program switches protocols. */
export interface WorkerAnswer {
  response: IncomingMessage
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

export function sendAttempt(
  { upstream, order, token, signal }: Carried,
  { request: members, body, switching }: ProgramRequest,
): Call {
  const { start, end } = aroundRequest(order)
  const json = Buffer.concat([start, members, end])
  // A body that arrived in chunks is sent in chunks, even if it is empty.
  const whole = body.complete && body.announced !== undefined
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
            ...(whole && { 'content-length': `${json.length + body.bytes}` }),
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
    call.once('response', (response) => resolve({ response }))
    call.once('upgrade', (response, socket, first) => resolve({ response, upgraded: { socket, first } }))
  })
}

async function pump(call: ClientRequest, head: Buffer, body: Body): Promise<void> {
  call.write(head)
  for await (const chunk of body.open()) {
    if (call.destroyed) return
    if (!call.write(chunk)) await drained(call)
  }
  if (body.trailers.length > 0) call.addTrailers([[headers.trailers, JSON.stringify(body.trailers)]])
  call.end()
}
