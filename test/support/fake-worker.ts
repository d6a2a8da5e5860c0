/** A worker in the test's process, for tests of the front: it speaks the protocol and forwards requests to a program. */

import { createServer, type IncomingMessage, request, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Measure } from '../../src/model/cost.ts'
import { connectToBrain } from '../../src/wire/connect.ts'
import type { Line } from '../../src/wire/lines.ts'
import {
  type AttemptHead,
  type AttemptOutcome,
  attemptPath,
  type FromBrain,
  type FromWorker,
  type HttpHead,
  headers,
  wireVersion,
} from '../../src/wire/messages.ts'
import type { Live } from './live.ts'

export interface Attempt {
  head: AttemptHead
  request: IncomingMessage
  response: ServerResponse
}

export interface FakeWorker {
  /** Heads of all attempts received. */
  attempts: AttemptHead[]
  /** The cost that it reports for each answer. */
  cost: { measure: Measure; work: number; cpuMs: number; wallMs: number }
  /** Handles the next attempts instead of the program, until it is undefined again. */
  instead: ((attempt: Attempt) => void) | undefined
  /** Resolves when the attempt may begin. */
  go(head: AttemptHead): Promise<void>
  close(): Promise<void>
}

export interface FakeOptions {
  id?: string
  /** The code hashes that it announces. */
  code: Record<string, string>
  /** Where the program listens. */
  port: number
}

export async function joinFake(live: Live, { id = 'fake', code, port }: FakeOptions): Promise<FakeWorker> {
  const going = new Map<string, PromiseWithResolvers<void>>()
  const goOf = ({ job, attempt }: { job: string; attempt: number }) => {
    const name = `${job} ${attempt}`
    const known = going.get(name) ?? Promise.withResolvers<void>()
    going.set(name, known)
    return known
  }
  const fake: FakeWorker = {
    attempts: [],
    cost: { measure: 'cpu', work: 1000, cpuMs: 1, wallMs: 2 },
    instead: undefined,
    go: (head) => goOf(head).promise,
    close,
  }
  const held = new Map<string, AttemptHead>()
  let line: Line<FromWorker> | undefined
  let seq = 0

  const server = attemptServer((attempt) => {
    const { head, response } = attempt
    fake.attempts.push(head)
    held.set(head.job, head)
    response.on('close', () => held.delete(head.job))
    if (head.ask) line?.send({ type: 'ready', epoch: head.epoch, job: head.job, attempt: head.attempt })
    if (fake.instead) fake.instead(attempt)
    else forward(attempt, port, fake.cost)
  })

  const onMessage = (message: FromBrain) => {
    if (message.type === 'go') goOf(message).resolve()
    if (message.type !== 'welcome') return
    beat = setInterval(() => {
      const tokens = [...held.values()].map(({ epoch, job, attempt }) => ({ epoch, job, attempt }))
      line?.send({ type: 'report', seq: ++seq, held: tokens })
    }, message.beatMs)
  }
  let beat: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const credential = { role: 'worker', token: live.tokens.worker } as const
  line = await connectToBrain(new URL(live.adminUrl), credential, onMessage, () => clearInterval(beat))
  const facts = { id, cores: 4, workPerSecond: 1e6, memoryMb: 4096, slots: 100 }
  line.send({
    type: 'hello',
    version: wireVersion,
    worker: facts,
    pid: process.pid,
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    code,
    seq: ++seq,
    held: [],
  })

  async function close(): Promise<void> {
    clearInterval(beat)
    line?.close()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return fake
}

function attemptServer(take: (attempt: Attempt) => void): Server {
  const server = createServer({ maxHeaderSize: 128 * 1024 }, async (incoming, response) => {
    if (incoming.url !== attemptPath || incoming.method !== 'POST') return response.writeHead(404).end()
    take({ head: await readHead(incoming), request: incoming, response })
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, first: Buffer) => {
    const response = new ServerResponse(incoming)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => socket.end())
    if (first.length > 0) socket.unshift(first)
    const head = JSON.parse(Buffer.from(String(incoming.headers[headers.head]), 'base64url').toString())
    take({ head, request: incoming, response })
  })
  return server
}

async function readHead(incoming: IncomingMessage): Promise<AttemptHead> {
  const bytes = Number(incoming.headers[headers.headBytes])
  let have: Buffer = Buffer.alloc(0)
  while (have.length < bytes) {
    const chunk: Buffer | null = incoming.read()
    if (chunk) have = Buffer.concat([have, chunk])
    else await new Promise((resolve) => incoming.once('readable', resolve))
  }
  if (have.length > bytes) incoming.unshift(have.subarray(bytes))
  return JSON.parse(have.subarray(0, bytes).toString())
}

/** Forwards the attempt to the program, and its answer to the front. */
export function forward(
  { head, request: incoming, response }: Attempt,
  port: number,
  cost: FakeWorker['cost'],
): void {
  const { method, target, headers: raw, upgrade } = head.http!
  const hasBody = Number(incoming.headers['content-length']) !== Number(incoming.headers[headers.headBytes])
  const hasLength = raw.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-length')
  const chunked = hasBody && !hasLength && !upgrade ? ['transfer-encoding', 'chunked'] : []
  const call = request({ port, method, path: target, headers: [...raw, ...chunked], agent: false })
  call.on('error', () => response.destroy())
  response.on('close', () => call.destroy())
  call.on('response', (answer) => {
    begin(response, {
      status: answer.statusCode!,
      message: answer.statusMessage!,
      headers: answer.rawHeaders,
    })
    answer.on('error', () => response.destroy())
    answer.on('data', (chunk) => response.write(chunk))
    answer.on('end', () => finish(response, cost, answer.rawTrailers))
  })
  call.on('upgrade', (answer, socket, first) => {
    const told: HttpHead = { status: 101, message: answer.statusMessage!, headers: answer.rawHeaders }
    response.writeHead(101, {
      connection: 'upgrade',
      upgrade: 'plimsoll-attempt',
      [headers.head]: Buffer.from(JSON.stringify(told)).toString('base64url'),
    })
    response.flushHeaders()
    const front = incoming.socket
    response.detachSocket(front)
    if (first.length > 0) socket.unshift(first)
    for (const [one, other] of [
      [front, socket],
      [socket, front],
    ] as const) {
      one.on('error', () => one.destroy())
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  if (upgrade) return void call.end()
  incoming.on('data', (chunk) => call.write(chunk))
  incoming.on('end', () => {
    const trailers = incoming.trailers[headers.trailers]
    const list: string[] = trailers === undefined ? [] : JSON.parse(trailers)
    if (list.length > 0)
      call.addTrailers(list.flatMap((name, i) => (i % 2 ? [] : [[name, list[i + 1]!]])) as [])
    call.end()
  })
}

/** Sends the head of an answer. */
export function begin(response: ServerResponse, head: HttpHead): void {
  const json = Buffer.from(JSON.stringify(head))
  response.writeHead(200, { [headers.outcome]: 'result', [headers.headBytes]: json.length })
  response.write(json)
}

export function finish(response: ServerResponse, cost: FakeWorker['cost'], trailers: string[] = []): void {
  response.addTrailers({
    [headers.measure]: cost.measure,
    [headers.work]: `${cost.work}`,
    [headers.cpuMs]: `${cost.cpuMs}`,
    [headers.wallMs]: `${cost.wallMs}`,
    [headers.peakMemoryMb]: '10',
    ...(trailers.length > 0 && { [headers.trailers]: JSON.stringify(trailers) }),
  })
  response.end()
}

export function fail(response: ServerResponse, outcome: AttemptOutcome, message: string): void {
  response.writeHead(500, { [headers.outcome]: outcome, 'content-type': 'application/json' })
  response.end(JSON.stringify({ message, status: 500 }))
}
