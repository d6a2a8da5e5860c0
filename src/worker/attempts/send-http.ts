/**
 * Sends the answer of a program to the front: its head as the first bytes, then its body as it arrives, then trailers. The
 * body of a long answer takes a connection of its own.
 */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { AnswerBroken } from '../../lib/errors.ts'
import { headers } from '../../wire/messages.ts'
import type { JobAnswer } from '../job-run.ts'
import type { LongBody } from '../program/long-body.ts'
import type { AcceptedAttempt } from '../supervisor.ts'
import type { ByteChannels } from './byte-channels.ts'
import { brokenTrailers, usageHeaders, usageNames } from './send-answer.ts'

const trailer = [...usageNames, headers.measure, headers.trailers, headers.outcome, headers.failure].join(
  ', ',
)

/** Answers up to this size that arrive within a turn of the event loop are sent at once, with the cost in the head. */
const wholeBytes = 64 * 1024

export async function sendHttp(
  result: Extract<JobAnswer, { kind: 'http' }>,
  attempt: AcceptedAttempt,
  response: ServerResponse,
  channels: ByteChannels,
): Promise<void> {
  const first = new FirstTurn(Buffer.from(JSON.stringify(result.head)), response)
  const { long } = result
  if (long) offer(long, channels, first, response)
  const failure = await forward(result.body, first, response)
  if (failure) long?.close()
  else await long?.sent
  const whole = failure ? undefined : first.take()
  const usage = await attempt.usage
  if (response.destroyed) return
  const sent = result.trailers()
  const fields = {
    ...usageHeaders(usage),
    ...(sent.length > 0 && { [headers.trailers]: asciiJson(sent) }),
  }
  if (whole) {
    response.writeHead(200, { ...first.fields, ...fields, 'content-length': whole.length })
    response.end(whole)
    return
  }
  first.begin()
  response.addTrailers({ ...fields, ...(failure && brokenTrailers(failure)) })
  response.end()
}

/** The front asks for the body on another connection. */
function offer(long: LongBody, channels: ByteChannels, first: FirstTurn, response: ServerResponse): void {
  if (response.destroyed) return long.close()
  const ticket = channels.offer(long)
  response.once('close', () => {
    channels.withdraw(ticket)
    long.close()
  })
  first.fields[headers.channel] = ticket
  first.begin()
}

/** HTTP clients disagree about other characters in headers. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Holds the beginning of an answer back: a short answer usually arrives at once, and is then sent with a single write. */
class FirstTurn {
  readonly fields: Record<string, string | number>
  readonly #response: ServerResponse
  readonly #end: NodeJS.Immediate
  /** Undefined: what arrives is passed on. */
  #held: Buffer[] | undefined
  #bytes = 0

  constructor(head: Buffer, response: ServerResponse) {
    this.fields = { [headers.outcome]: 'result', [headers.headBytes]: head.length }
    this.#response = response
    this.#held = [head]
    this.#end = setImmediate(() => this.begin())
  }

  /** False: the answer must pause until `drain`. */
  write(chunk: Buffer): boolean {
    this.#bytes += chunk.length
    if (this.#bytes > wholeBytes) this.begin()
    if (!this.#held) return this.#response.write(chunk)
    this.#held.push(chunk)
    return true
  }

  /** The whole answer with its head; undefined if its beginning has been sent. */
  take(): Buffer | undefined {
    const held = this.#held
    this.#held = undefined
    clearImmediate(this.#end)
    return held && Buffer.concat(held)
  }

  /** Sends what is held. Idempotent. */
  begin(): void {
    const held = this.take()
    if (!held || this.#response.destroyed) return
    this.#response.writeHead(200, { ...this.fields, trailer })
    this.#response.write(held)
  }
}

/** Resolves when the body has ended or the front has disconnected; to the error if the body breaks off. */
function forward(
  body: Readable,
  first: FirstTurn,
  response: ServerResponse,
): Promise<AnswerBroken | undefined> {
  return new Promise((resolve, reject) => {
    const closed = () => {
      body.destroy()
      resolve(undefined)
    }
    body.on('data', (chunk: Buffer) => {
      if (!first.write(chunk)) body.pause()
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
