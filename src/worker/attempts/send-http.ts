/** Sends the answer of a program to the front: its head as the first bytes, then its body as it arrives, then trailers. */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { AnswerBroken } from '../../lib/errors.ts'
import { headers } from '../../wire/messages.ts'
import type { JobAnswer } from '../job-run.ts'
import type { AcceptedAttempt } from '../supervisor.ts'
import { brokenTrailers, usageHeaders, usageNames } from './send-answer.ts'

const trailer = [...usageNames, headers.measure, headers.trailers, headers.outcome, headers.failure].join(
  ', ',
)

export async function sendHttp(
  result: Extract<JobAnswer, { kind: 'http' }>,
  attempt: AcceptedAttempt,
  response: ServerResponse,
): Promise<void> {
  const head = Buffer.from(JSON.stringify(result.head))
  response.writeHead(200, { [headers.outcome]: 'result', [headers.headBytes]: head.length, trailer })
  // The socket, not the response: corked chunks of a response would follow its end. A short answer arrives at once, and is then passed on with a single write.
  const { socket } = response
  socket?.cork()
  setImmediate(() => socket?.uncork())
  response.write(head)
  const failure = await forward(result.body, response)
  const usage = await attempt.usage
  if (response.destroyed) return
  const sent = result.trailers()
  response.addTrailers({
    ...usageHeaders(usage),
    ...(sent.length > 0 && { [headers.trailers]: JSON.stringify(sent) }),
    ...(failure && brokenTrailers(failure)),
  })
  response.end()
}

/** Resolves when the body has ended or the front has disconnected; to the error if the body breaks off. */
function forward(body: Readable, response: ServerResponse): Promise<AnswerBroken | undefined> {
  return new Promise((resolve, reject) => {
    const closed = () => {
      body.destroy()
      resolve(undefined)
    }
    body.on('data', (chunk: Buffer) => {
      if (!response.write(chunk)) body.pause()
    })
    body.on('end', () => resolve(undefined))
    body.on('error', (error) => (error instanceof AnswerBroken ? resolve(error) : reject(error)))
    response.on('drain', () => body.resume())
    response.on('close', closed)
    if (response.destroyed) closed()
    // It may have failed before it was read.
    else if (body.errored instanceof AnswerBroken) resolve(body.errored)
  })
}
