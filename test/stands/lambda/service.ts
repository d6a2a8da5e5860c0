/**
 * A small Lambda service on loopback: the Invoke operation in front, sandboxes behind. Statuses, headers and error
 * types are the documented ones; error messages only resemble the real ones.
 */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Largest request and answer of a synchronous invocation. */
export const payloadLimit = 6 * 1024 * 1024

export interface FunctionError {
  errorType: string
  errorMessage: string
  trace?: string[]
}

/** What came of one invocation. */
export type SandboxEnd = { payload: Buffer | string } | { failed: FunctionError }

/** One instance of a function, which runs one invocation at a time. */
export interface Sandbox {
  /** Rejects never. `deadline`: in milliseconds since 1970. */
  run(call: { id: string; payload: Buffer; deadline: number }): Promise<SandboxEnd>
  /** False: it cannot run another invocation. */
  readonly alive: boolean
  end(): void
}

export interface StandFunction {
  memoryMb: number
  timeoutMs: number
  /** Reserved concurrency: further invocations are throttled. */
  concurrency: number
  start(name: string, self: StandFunction): Sandbox
}

export interface LambdaStand {
  url: string
  /** Since the start. */
  readonly counts: { invocations: number; throttled: number; coldStarts: number; dryRuns: number }
  /** Errors that the next invocations are answered with, in place of running. */
  readonly faults: Fault[]
  close(): Promise<void>
}

/** `silent`: the connection stays open without an answer. */
export type Fault = Refusal | 'silent'

interface Refusal {
  status: number
  type: string
  message: string
}

interface Instance {
  name: string
  sandbox: Sandbox
  busy: boolean
}

export async function startLambdaStand(
  functions: Readonly<Record<string, StandFunction>>,
): Promise<LambdaStand> {
  const service = new Service(functions)
  const server = createServer((request, response) => {
    service.answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: service.counts,
    faults: service.faults,
    async close() {
      service.end()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

class Service {
  readonly #functions: Readonly<Record<string, StandFunction>>
  readonly #instances = new Set<Instance>()
  readonly counts = { invocations: 0, throttled: 0, coldStarts: 0, dryRuns: 0 }
  readonly faults: Fault[] = []

  constructor(functions: Readonly<Record<string, StandFunction>>) {
    this.#functions = functions
  }

  end(): void {
    for (const { sandbox } of this.#instances) sandbox.end()
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = /^\/2015-03-31\/functions\/([^/]+)\/invocations/.exec(request.url ?? '')
    const { body, bytes } = await bodyOf(request)
    if (!path || request.method !== 'POST')
      return refuse(response, {
        status: 404,
        type: 'UnknownOperationException',
        message: 'no such operation',
      })
    const name = decodeURIComponent(path[1]!).split(':function:').at(-1)!
    const called = this.#functions[name]
    const fault = refusal(name, called, bytes)
    if (fault) return refuse(response, fault)
    if (request.headers['x-amz-invocation-type'] === 'DryRun') {
      this.counts.dryRuns++
      response.writeHead(204).end()
    } else await this.#invoke(name, called!, body, response)
  }

  async #invoke(
    name: string,
    called: StandFunction,
    payload: Buffer,
    response: ServerResponse,
  ): Promise<void> {
    const planted = this.faults.shift()
    if (planted === 'silent') return
    const instance = planted ? undefined : this.#idle(name, called)
    if (!instance) {
      const fault = planted ?? throttling
      if (fault.status === 429) this.counts.throttled++
      return refuse(response, fault)
    }
    this.counts.invocations++
    instance.busy = true
    const id = randomUUID()
    const ended = await limited(instance.sandbox, { id, payload, timeoutMs: called.timeoutMs })
    instance.busy = false
    if (!instance.sandbox.alive) this.#instances.delete(instance)
    sendEnd(response, id, ended)
  }

  /** A warm instance, or a new one. Undefined: all are busy. */
  #idle(name: string, called: StandFunction): Instance | undefined {
    const same = [...this.#instances].filter((each) => each.name === name && each.sandbox.alive)
    const warm = same.find(({ busy }) => !busy)
    if (warm || same.length >= called.concurrency) return warm
    this.counts.coldStarts++
    const started: Instance = { name, sandbox: called.start(name, called), busy: false }
    this.#instances.add(started)
    return started
  }
}

const throttling = { status: 429, type: 'TooManyRequestsException', message: 'Rate Exceeded.' }

function refusal(name: string, called: StandFunction | undefined, bytes: number): Refusal | undefined {
  if (!called) {
    const message = `Function not found: ${arnOf(name)}`
    return { status: 404, type: 'ResourceNotFoundException', message }
  }
  if (bytes <= payloadLimit) return undefined
  const message = `${bytes} byte payload is too large for the RequestResponse invocation type (limit ${payloadLimit} bytes)`
  return { status: 413, type: 'RequestTooLargeException', message }
}

function sendEnd(response: ServerResponse, id: string, ended: SandboxEnd): void {
  const failed = 'failed' in ended ? ended.failed : tooLarge(ended.payload)
  response.writeHead(200, {
    'content-type': 'application/json',
    'x-amzn-requestid': id,
    'x-amz-executed-version': '$LATEST',
    ...(failed && { 'x-amz-function-error': 'Unhandled' }),
  })
  response.end(failed ? JSON.stringify(failed) : (ended as { payload: Buffer }).payload)
}

export function arnOf(name: string): string {
  return `arn:aws:lambda:eu-central-1:123456789012:function:${name}`
}

/** A sandbox that runs too long is ended. */
async function limited(
  sandbox: Sandbox,
  { id, payload, timeoutMs }: { id: string; payload: Buffer; timeoutMs: number },
): Promise<SandboxEnd> {
  const timeUp = Promise.withResolvers<SandboxEnd>()
  const timer = setTimeout(() => {
    sandbox.end()
    const seconds = (timeoutMs / 1000).toFixed(2)
    const errorMessage = `RequestId: ${id} Error: Task timed out after ${seconds} seconds`
    timeUp.resolve({ failed: { errorType: 'Sandbox.Timedout', errorMessage } })
  }, timeoutMs).unref()
  try {
    return await Promise.race([
      sandbox.run({ id, payload, deadline: Date.now() + timeoutMs }),
      timeUp.promise,
    ])
  } finally {
    clearTimeout(timer)
  }
}

function tooLarge(payload: Buffer | string): FunctionError | undefined {
  if (Buffer.byteLength(payload) <= payloadLimit) return undefined
  const errorMessage = `Response payload size exceeded maximum allowed payload size (${payloadLimit} bytes).`
  return { errorType: 'Function.ResponseSizeTooLarge', errorMessage }
}

async function bodyOf(request: IncomingMessage): Promise<{ body: Buffer; bytes: number }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes <= payloadLimit) chunks.push(chunk as Buffer)
  }
  return { body: Buffer.concat(chunks), bytes }
}

function refuse(response: ServerResponse, { status, type, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type })
  response.end(JSON.stringify({ Type: 'User', message, Message: message }))
}
