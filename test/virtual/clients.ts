/** Draws the requests of virtual clients from a seed. */

import { type Random, stream } from '../../src/lib/random.ts'
import { type Pace, sendRequest } from './client.ts'
import type { Judge, Request } from './judge.ts'
import type { VirtualPort } from './port.ts'
import type { VirtualProcess, VirtualTime } from './time.ts'
import type { JobParams } from './workload.ts'

export interface ClientParts {
  seed: number
  time: VirtualTime
  judge: Judge
  /** The process of all clients. */
  process: VirtualProcess
  /** Requests arrive from the first to the second of these times. */
  between: readonly [number, number]
  port: VirtualPort
  seats: number
}

/** Parameters above this length are refused. */
const paramsBytes = 64 * 1024
/** Most requests of a run that never end by themselves: each takes a slot until its time limit. */
const mostHanging = 3

interface Drawn {
  params: Omit<JobParams, 'request' | 'safeToRepeat'>
  expected: Request['expected']
  pace?: Pace
}

export function planRequests(count: number, parts: ClientParts): void {
  const random = stream(parts.seed, 'requests')
  const [from, to] = parts.between
  let hanging = 0
  const drawOne = () => {
    for (;;) {
      const drawn = draw(random)
      if (drawn.expected.kind !== 'limit' || ++hanging <= mostHanging) return drawn
    }
  }
  for (let i = 0; i < count; i++) plan(parts, random, i, from + random.next() * (to - from), drawOne())
  // Many clients ask for long answers at the same time, and read them slowly.
  const slow = parts.seed % 8 === 1 ? 18 : 0
  const at = from + random.next() * (to - from)
  for (let i = 0; i < slow; i++) plan(parts, random, count + i, at + random.next() * 500, slowReader(random))
}

/** A request, and what becomes of it. */
function draw(random: Random): Drawn {
  const kind = random.next()
  const runMs = 5 + random.exponential() * 400
  const plain = { waitMs: 0, runMs, answerBytes: 10, padding: '' }
  const result = { kind: 'result' } as const
  if (kind < 0.03)
    return longParams(plain, paramsBytes + random.below(100_000), { kind: 'problem', status: 413 })
  if (kind < 0.06) return longParams(plain, 1500 + random.below(55_000), result)
  if (kind < 0.08) {
    const { params } = longParams(plain, 1500 + random.below(55_000), result)
    return { params: { ...params, runMs: null as never }, expected: { kind: 'problem', status: 400 } }
  }
  if (kind < 0.11) return { params: { ...plain, waitMs: null }, expected: { kind: 'limit' } }
  if (kind < 0.12) return { params: { ...plain, runMs: 1e9 }, expected: { kind: 'limit' } }
  if (kind < 0.16) return { params: { ...plain, waitMs: 8000 + random.next() * 8000 }, expected: result }
  if (kind < 0.3) return { params: { ...plain, waitMs: random.next() * 2000 }, expected: result }
  if (kind < 0.33) return slowReader(random)
  return { params: plain, expected: result }
}

function longParams(plain: Drawn['params'], bytes: number, expected: Request['expected']): Drawn {
  return { params: { ...plain, padding: 'x'.repeat(bytes) }, expected }
}

/** Reads steadily, or so little that it is disconnected unless the answer is short. */
function slowReader(random: Random): Drawn {
  const params = { waitMs: 0, runMs: 50, answerBytes: 350_000 + random.below(250_000), padding: '' }
  const stalls = random.next() < 0.3
  return {
    params,
    expected: { kind: stalls ? 'cut' : 'result' },
    pace: stalls ? { bytes: 20, everyMs: 1000 } : { bytes: 10_000 + random.below(10_000), everyMs: 500 },
  }
}

function plan(parts: ClientParts, random: Random, number: number, at: number, drawn: Drawn): void {
  const { time, judge, process, port, seats } = parts
  const { expected, pace } = drawn
  const safeToRepeat = random.next() < 0.6
  const leavesAfterMs = expected.kind === 'result' && random.next() < 0.05 ? random.next() * 1000 : undefined
  const seat = random.below(seats)
  const params = { ...drawn.params, request: number, safeToRepeat }
  const isOrdinary = pace === undefined && expected.kind === 'result'
  const request: Request = {
    ...{ number, safeToRepeat, expected, isOrdinary, sentAt: at, front: undefined, starts: 0, endings: [] },
    needsMs: (params.waitMs ?? 0) + params.runMs,
    disconnected: false,
  }
  time.schedule(at, 'input', process, () => {
    judge.sent(request)
    port.connect(seat, {
      client: process,
      connected(socket, front) {
        request.front = front
        const disconnect = sendRequest(socket, params, pace, (ending) => judge.ended(request, ending))
        if (leavesAfterMs === undefined) return
        setTimeout(() => {
          request.disconnected = true
          disconnect()
        }, leavesAfterMs)
      },
    })
  })
}
