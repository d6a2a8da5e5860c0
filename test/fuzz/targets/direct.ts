/** The direct path: answers of programs that fronts read themselves, and frames between fronts, workers and slots. */

import { longestBody } from '../../../src/front/direct/answer-reader.ts'
import { readAnswer } from '../../../src/front/direct/testing/read-answer.ts'
import { ProtocolError } from '../../../src/lib/errors.ts'
import { type Frame, FrameDecoder, kinds, longestAnswerFrame } from '../../../src/wire/direct-frames.ts'
import { bytesOf, chance, fewOf, listOf, oddNumbers, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const answerLines = [
  ...[
    'Content-Length: 2\r\n',
    'Content-Length: 02\r\n',
    'Content-Length: 2, 2\r\n',
    'Content-Length: -1\r\n',
  ],
  ...['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip, chunked\r\n', 'Connection: close\r\n'],
  ...['Trailer: x\r\n', 'Set-Cookie: a\r\n', ' folded\r\n', 'a : b\r\n', 'a: b\n', '\xff: \x01\r\n'],
]
const chunks = [
  '2\r\nok\r\n',
  '0\r\n\r\n',
  '0\r\nx: y\r\n\r\n',
  '2;a=b\r\nok\r\n',
  '-1\r\n',
  'ffffffffff\r\n',
  '1\nx\n',
]

export const programAnswer: Target = {
  name: 'program-answer',
  about: 'answers of programs on the direct path',
  weight: 2,
  maxBytes: 32 * 1024,
  cpuMs: 1_000,
  words: ['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 204 No Content\r\n', '\r\n\r\n', ...answerLines, ...chunks],
  generate: (random) =>
    Buffer.from(
      pick(random, [
        'HTTP/1.1 200 OK\r\n',
        'HTTP/1.1 304 \r\n',
        'HTTP/1.1 100 Continue\r\n\r\n',
        'HTTP/1.0 200\r\n',
      ]) +
        `${listOf(random, 3, () => pick(random, answerLines)).join('')}\r\n` +
        (chance(random, 0.5) ? 'ok' : listOf(random, 4, () => pick(random, chunks)).join('')),
      'latin1',
    ),
  declared: errorsOf(),
  open: () => ({
    run(input) {
      const method = (input.at(-1) ?? 0) % 4 === 0 ? 'HEAD' : 'GET'
      const whole = readAnswer(method, input)
      const step = 1 + (input.at(-1) ?? 0)
      const cuts = Array.from({ length: Math.floor(input.length / step) }, (_, i) => (i + 1) * step)
      const split = readAnswer(method, input, cuts)
      holds(JSON.stringify(whole) === JSON.stringify(split), 'the answer depends on how bytes are split')
      if (!whole) return 'odd or incomplete'
      const { status, headers, body } = whole.answer
      holds(status >= 200 && status <= 599, `status ${status}`)
      holds(headers.length % 2 === 0, 'a name without a value')
      holds(!headers.some((text) => /[\r\n\0]/.test(text)), 'a header with a line end')
      holds(
        body.length <= Math.min(longestBody, input.length),
        'a body of more bytes than arrived, or too long',
      )
      holds(method !== 'HEAD' || body === '', 'a body of an answer to HEAD')
      return `${status} ${body === '' ? 'empty' : 'with a body'}`
    },
  }),
}

/** As a peer may send it: lengths and kinds need not fit. */
function frame(kind: number, rest: Buffer, length = 5 + rest.length): Buffer {
  const head = Buffer.alloc(9)
  head.writeUInt32LE(length >>> 0, 0)
  head[4] = kind
  head.writeUInt32LE(7, 5)
  return Buffer.concat([head, rest])
}

export const directFrames: Target = {
  name: 'direct-frames',
  about: 'frames of direct links',
  weight: 2,
  maxBytes: 32 * 1024,
  cpuMs: 1_000,
  words: ['\x05\0\0\0\x02\x01\0\0\0', '\x09\0\0\0\x01\x01\0\0\0\0\0\0\0', '\xff\xff\xff\xff', '\0\0\0\0'],
  generate: (random) =>
    Buffer.concat(
      listOf(random, 8, () => {
        const sizes = Buffer.alloc(4)
        sizes.writeUInt16LE(pick(random, [0, 1, 4, 65_535]), 0)
        const names = Buffer.from(textOf(random))
        const rest = chance(random, 0.5)
          ? Buffer.concat([sizes, names, Buffer.from('{}')])
          : Buffer.concat([
              Buffer.alloc(1),
              bytesOf(random, 34),
              Buffer.alloc(8),
              bytesOf(random, fewOf(random, 60)),
            ])
        const odd = chance(random, 0.2)
          ? Math.abs(Number(pick(random, oddNumbers)) || 0) % 2 ** 32
          : undefined
        return frame(pick(random, [kinds.job, kinds.cancel, kinds.answer, 0, 9]), rest, odd)
      }),
    ),
  declared: errorsOf(ProtocolError),
  open: () => ({
    run(input) {
      const whole = decode([input])
      const step = 1 + ((input[0] ?? 0) % 64)
      const parts = Array.from({ length: Math.ceil(input.length / step) }, (_, i) =>
        input.subarray(i * step, (i + 1) * step),
      )
      const split = decode(parts)
      holds(JSON.stringify(whole.seen) === JSON.stringify(split.seen), 'frames depend on how bytes are split')
      holds(whole.failure?.message === split.failure?.message, 'errors depend on how bytes are split')
      if (whole.failure) throw whole.failure
      return `${Math.min(3, whole.seen.length)} frames`
    },
  }),
}

/** The frames before the first error. */
function decode(parts: readonly Buffer[]): { seen: string[]; failure: Error | undefined } {
  const seen: string[] = []
  const decoder = new FrameDecoder(longestAnswerFrame, (next) => void seen.push(read(next)))
  try {
    for (const part of parts) decoder.push(Buffer.from(part))
    return { seen, failure: undefined }
  } catch (error) {
    return { seen, failure: error as Error }
  }
}

function read(next: Frame): string {
  const bytes = next.end - next.start
  if (next.kind === kinds.job) {
    const { workload, job, params } = next.job()
    holds(workload.length + params.length <= bytes, 'a job of more bytes than its frame')
    return `job ${next.id} ${workload} ${job} ${params.toString('latin1')}`
  }
  if (next.kind !== kinds.answer) return `kind ${next.kind} of ${next.id}`
  const { outcome, status, fields, tally, body } = next.answer()
  holds(body.length <= bytes, 'an answer of more bytes than its frame')
  return `${outcome} ${status} ${fields} ${tally} ${body.toString('latin1')}`
}
