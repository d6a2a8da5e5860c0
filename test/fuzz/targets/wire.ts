/** Messages between processes: lines of JSON, frames of slots, heads of attempts and of their answers. */

import { Duplex } from 'node:stream'
import { costOf, fieldsOf, outcomeOf } from '../../../src/front/transports/answer-head.ts'
import { parseHead, parseRaw } from '../../../src/front/transports/http-head.ts'
import { ProtocolError } from '../../../src/lib/errors.ts'
import { readKeptHead, writeKeptHead } from '../../../src/wire/cache-messages.ts'
import { lines } from '../../../src/wire/lines.ts'
import { headers as wireHeaders } from '../../../src/wire/messages.ts'
import { type Frame, Session } from '../../../src/wire/session.ts'
import { encodeChunk, encodeMessage, FrameReader } from '../../../src/worker/slots/frames.ts'
import { bytesOf, fewOf, jsonText, listOf, oddNumbers, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const jsonWords = [
  '\n',
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  'null',
  '{"n":1,"a":0,"m":{}}\n',
  '\\u0000',
  '\xff',
  '\xc3',
]

export const wireLines: Target = {
  name: 'wire-lines',
  about: 'lines of JSON between brain, fronts and workers, and their sessions',
  weight: 2,
  maxBytes: 32 * 1024,
  cpuMs: 1_000,
  words: jsonWords,
  generate: (random) =>
    Buffer.from(
      listOf(random, 20, () =>
        random.below(3) === 0
          ? jsonText(random)
          : `{"n":${pick(random, oddNumbers) || 0},"a":${random.below(9)},"m":${jsonText(random)}}`,
      ).join('\n') + pick(random, ['\n', '', '\r\n']),
    ),
  declared: errorsOf(),
  open: () => ({
    async run(input) {
      const whole = await readLines([input])
      const step = 1 + (input[0] ?? 0)
      const parts = Array.from({ length: Math.ceil(input.length / step) }, (_, i) =>
        input.subarray(i * step, (i + 1) * step),
      )
      const split = await readLines(parts)
      holds(
        JSON.stringify(whole.messages) === JSON.stringify(split.messages),
        'messages depend on how bytes are split',
      )
      return `${Math.min(3, whole.messages.length)} ${whole.failure?.name ?? 'closed'}`
    },
  }),
}

async function readLines(
  parts: readonly Buffer[],
): Promise<{ messages: unknown[]; failure: Error | undefined }> {
  const messages: unknown[] = []
  const session = new Session<unknown, unknown>()
  session.send('kept')
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  return new Promise((resolve) => {
    lines<unknown, unknown>(
      socket,
      (message) => {
        messages.push(message)
        session.take(message as Frame<unknown>)
      },
      (failure) => resolve({ messages, failure }),
    )
    for (const part of parts) if (part.length > 0) socket.push(part)
    socket.push(null)
  })
}

export const slotFrames: Target = {
  name: 'slot-frames',
  about: 'frames between a worker and its slots',
  weight: 2,
  maxBytes: 32 * 1024,
  cpuMs: 1_000,
  words: [
    '\0\0\0\0\x01',
    '\0\0\0\x02\x01{}',
    '\0\0\0\x01\x02',
    '\x20\0\0\0\x01',
    '\x1f\xff\xff\xff\x02',
    '\0\0\0\0\x09',
  ],
  generate: (random) =>
    Buffer.concat(
      listOf(random, 12, () =>
        random.below(2) === 0
          ? encodeChunk(bytesOf(random, fewOf(random, 600)))
          : encodeMessage(JSON.parse(validJson(jsonText(random)))),
      ),
    ),
  declared: errorsOf(ProtocolError),
  open: () => ({
    run(input) {
      let messages = 0
      let bytes = 0
      const reader = new FrameReader<unknown>(
        () => messages++,
        (chunk) => {
          bytes += chunk.length
        },
      )
      const step = 1 + ((input[0] ?? 0) % 64)
      for (let at = 0; at < input.length; at += step) reader.push(Buffer.from(input.subarray(at, at + step)))
      holds(bytes <= input.length, 'more bytes than arrived')
      return `${Math.min(3, messages)} ${bytes > 0 ? 'with' : 'without'} chunks`
    },
  }),
}

function validJson(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch {
    return 'null'
  }
}

export const answerHead: Target = {
  name: 'answer-head',
  about: 'heads of answers, costs, trailers and cached answers',
  maxBytes: 8192,
  cpuMs: 1_000,
  words: [
    ...jsonWords,
    '"status":',
    '"headers":',
    '"message":',
    '200',
    '"set-cookie"',
    '\\r\\n',
    '"fields":',
    '"ageMs":',
  ],
  generate: (random) =>
    Buffer.from(
      JSON.stringify({
        status: pick(random, [200, 204, 99, 1000, 101, '200', null]),
        message: textOf(random),
        headers: listOf(random, 8, () =>
          pick(random, ['Set-Cookie', 'a: b', 'x\r\ny', '', 'content-length', textOf(random)]),
        ),
        fields: { a: textOf(random) },
        account: {},
        ageMs: random.below(10),
      }),
    ),
  declared: errorsOf(ProtocolError),
  open: () => ({
    run(input) {
      const text = input.toString('utf8')
      const kept = readKeptHead(text)
      if (kept)
        holds(readKeptHead(writeKeptHead(kept) ?? text) !== undefined, 'a cached head cannot be read again')
      const fields = { [wireHeaders.work]: text, [wireHeaders.outcome]: text.slice(0, 20), 'x-own': text }
      const { work } = costOf(fields)
      holds(work >= 0 && work < Infinity, `work ${work}`)
      holds(typeof outcomeOf(fields) === 'string' && Object.keys(fieldsOf(fields)).length === 1, 'fields')
      if (text.startsWith('[')) return `${parseRaw(text).length} trailers`
      const { status } = parseHead(input)
      return `status ${status}`
    },
  }),
}
