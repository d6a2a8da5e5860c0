/** Kept jobs: what clients wish, what fronts ask the keeper to keep, and queries for lists of jobs. */

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { wishOf } from '../../../src/front/durable/wish.ts'
import { RequestProblem } from '../../../src/front/problem.ts'
import { listJobs } from '../../../src/keeper/list-jobs.ts'
import { readOrder } from '../../../src/keeper/read-order.ts'
import { KeeperProblem } from '../../../src/keeper/responses.ts'
import { ProtocolError } from '../../../src/lib/errors.ts'
import { jsonText, listOf, oddNumbers, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

/** The header fields of a wish, in lines. */
export const wish: Target = {
  name: 'wish',
  about: 'Prefer, Idempotency-Key and Plimsoll-Webhook of a request that is to be kept',
  maxBytes: 16 * 1024,
  cpuMs: 1_000,
  words: ['respond-async', 'wait=', ', ', '; ', '"', '\\', '=', ' ', '\n', '999999999', 'http://', '\xff'],
  generate: (random) =>
    Buffer.from(
      [
        listOf(random, 6, () =>
          pick(random, ['respond-async', `wait=${pick(random, oddNumbers)}`, textOf(random)]),
        ).join(pick(random, [',', ', ', ';'])),
        pick(random, ['', `"${textOf(random, 300)}"`, textOf(random, 300), '"\\"', '"a\\"b"']),
        pick(random, ['', textOf(random), 'https://example.com/']),
      ].join('\n'),
      'latin1',
    ),
  declared: errorsOf(RequestProblem),
  open: () => ({
    run(input) {
      const [prefer, key, webhook] = input.toString('latin1').split('\n')
      const found = wishOf({
        headers: {
          ...(prefer !== undefined && { prefer }),
          ...(key && { 'idempotency-key': key }),
          ...(webhook && { 'plimsoll-webhook': webhook }),
        },
      })
      if (!found) return 'none'
      const { waitMs, idempotencyKey, applied } = found
      holds(waitMs === null || (waitMs >= 0 && waitMs <= 24 * 3600 * 1000), `it waits for ${waitMs} ms`)
      holds(idempotencyKey === undefined || /^[\x20-\x7e]{1,255}$/.test(idempotencyKey), 'the key')
      holds(applied === undefined || /^(respond-async)?(, )?(wait=\d{1,9})?$/.test(applied), `${applied}`)
      return `${applied === undefined ? 'nothing' : 'something'} applied, ${waitMs === null ? 'no limit' : 'a limit'}`
    },
  }),
}

export const keepOrder: Target = {
  name: 'keep-order',
  about: 'what a front sends to the keeper: a line of JSON, then a body',
  maxBytes: 96 * 1024,
  cpuMs: 1_000,
  words: ['\n', '{', '}', '"', ':', ',', 'null', '"fields":', '"target":"/"', '\xff'],
  generate: (random) =>
    Buffer.from(`${jsonText(random)}${pick(random, ['\n', '', '\r\n'])}${textOf(random, 200)}`),
  declared: errorsOf(ProtocolError, SyntaxError),
  open: () => ({
    async run(input) {
      const [first = 0, second = 0] = input
      // It comes in chunks, and its length is true, too long or missing.
      const chunks = []
      for (let at = 0; at < input.length; at += 1 + first * 16)
        chunks.push(input.subarray(at, at + 1 + first * 16))
      const lengths = [`${input.length}`, `${input.length}`, `${input.length + 1}`, undefined]
      const length = lengths[second % lengths.length]
      const request = Object.assign(Readable.from(chunks), {
        headers: length === undefined ? {} : { 'content-length': length },
      })
      const { body } = await readOrder(request as unknown as IncomingMessage)
      let bytes = 0
      if (body instanceof Uint8Array) bytes = body.length
      else for await (const part of body) bytes += part.length
      holds(bytes <= input.length, 'more bytes than arrived')
      holds(length === undefined || bytes === Number(length) - input.indexOf(10) - 1, 'the whole body')
      return `${bytes > 0 ? 'with' : 'without'} a body`
    },
  }),
}

export const jobList: Target = {
  name: 'job-list',
  about: 'queries for lists of kept jobs',
  maxBytes: 4096,
  cpuMs: 1_000,
  words: [
    'state=',
    'open',
    'queued',
    '&',
    'limit=',
    'cursor=',
    'workload=',
    'client=',
    '%00',
    '%',
    '+',
    '=',
    '1e3',
  ],
  generate: (random) =>
    Buffer.from(
      listOf(random, 5, () =>
        pick(random, [
          `limit=${pick(random, oddNumbers)}`,
          `state=${pick(random, ['open', 'answered', 'running', ''])}`,
          `${pick(random, ['cursor', 'workload', 'client', textOf(random)])}=${textOf(random)}`,
        ]),
      ).join('&'),
    ),
  declared: errorsOf(KeeperProblem),
  open: () => ({
    async run(input) {
      let reads = 0
      const store = {
        list: async ({ limit, client }: { limit: number; client?: string }) => {
          reads++
          holds(limit >= 1 && limit <= 1_000, `a page of ${limit}`)
          holds(input[0] === undefined || input[0] % 2 === 0 || client === 'own', `jobs of ${client}`)
          return { jobs: [], cursor: 'next' }
        },
      }
      const client = (input[0] ?? 1) % 2 === 1 ? 'own' : undefined
      const query = new URLSearchParams(input.subarray(1).toString())
      const list = await listJobs(store, { client } as never, query, () =>
        Promise.reject(new Error('no job')),
      )
      holds(reads <= 20, `${reads} reads of the store`)
      return list.cursor === undefined ? 'the last page' : 'a page'
    },
  }),
}
