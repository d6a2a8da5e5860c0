/**
 * Sandboxes with Amazon's runtime interface client for Node (`aws-lambda-ric`): a process for each, stopped between
 * invocations as Lambda freezes it, with the Runtime API on a port of its own.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { deathSignal } from '../../../src/worker/processes/death-signal.ts'
import { arnOf, type FunctionError, type Sandbox, type SandboxEnd, type StandFunction } from './service.ts'

export interface RicFunction {
  /** The file of the runtime interface client. */
  ric: string
  /** `MODULE.EXPORT`, in the folder of the function's code. */
  handler: string
  root: string
  env?: Readonly<Record<string, string>>
  memoryMb?: number
  timeoutMs?: number
  concurrency?: number
  log?(line: string): void
}

export function ricFunction(options: RicFunction): StandFunction {
  const { memoryMb = 512, timeoutMs = 60_000, concurrency = 10 } = options
  return { memoryMb, timeoutMs, concurrency, start: (name, self) => new RicSandbox(name, self, options) }
}

interface Call {
  id: string
  payload: Buffer
  deadline: number
  ended: PromiseWithResolvers<SandboxEnd>
}

const addon = fileURLToPath(new URL('ric-addon.cjs', import.meta.url))

class RicSandbox implements Sandbox {
  readonly #name: string
  readonly #api = createServer((request, response) => {
    // A process that ends breaks off what it sends.
    this.#serve(request, response).catch(() => response.destroy())
  })
  readonly #options: RicFunction
  readonly #self: StandFunction
  #process: ChildProcess | undefined
  /** The client's open request for the next invocation. */
  #next: ServerResponse | undefined
  #call: Call | undefined
  #failure: FunctionError | undefined
  alive = true

  constructor(name: string, self: StandFunction, options: RicFunction) {
    this.#name = name
    this.#self = self
    this.#options = options
    this.#api.requestTimeout = 0
    this.#api.listen(0, '127.0.0.1')
    void once(this.#api, 'listening').then(() => this.#start())
  }

  run({ id, payload, deadline }: { id: string; payload: Buffer; deadline: number }): Promise<SandboxEnd> {
    this.#call = { id, payload, deadline, ended: Promise.withResolvers() }
    if (this.#failure) this.#end({ failed: this.#failure })
    const { promise } = this.#call?.ended ?? { promise: Promise.resolve({ failed: this.#failure! }) }
    this.#give()
    return promise
  }

  end(): void {
    this.alive = false
    this.#api.close()
    this.#api.closeAllConnections()
    const pid = this.#process?.pid
    if (pid === undefined || this.#process?.exitCode !== null) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }

  #start(): void {
    if (!this.alive) return
    const { port } = this.#api.address() as AddressInfo
    const { ric, handler, root, env, log = () => {} } = this.#options
    const { memoryMb } = this.#self
    // It ends with this process, however that ends.
    const command = [...deathSignal(), process.execPath, '--require', addon, ric, handler]
    this.#process = spawn(command[0]!, command.slice(1), {
      cwd: root,
      // A group of its own, so that all its processes freeze and end together.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
        AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true',
        AWS_LAMBDA_FUNCTION_NAME: this.#name,
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: `${memoryMb}`,
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${this.#name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: 'stand',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        AWS_REGION: 'eu-central-1',
        LAMBDA_TASK_ROOT: root,
        _HANDLER: handler,
        NODE_OPTIONS: `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
        ...env,
      },
    })
    for (const output of [this.#process.stdout!, this.#process.stderr!])
      output.on('data', (data) => log(`${this.#name}: ${data}`))
    this.#process.once('exit', (code, signal) => {
      const how = signal ? `signal: ${signalText[signal] ?? signal}` : `exit status ${code}`
      const errorMessage = `RequestId: ${this.#call?.id} Error: Runtime exited with error: ${how}`
      this.#fail({ errorType: 'Runtime.ExitError', errorMessage })
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, , , kind, id, verb] = (request.url ?? '').split('/')
    if (kind === 'invocation' && id === 'next') {
      this.#next = response
      if (!this.#call) this.#signal('SIGSTOP')
      return this.#give()
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    response.writeHead(202, { 'content-type': 'application/json' }).end('{"status":"OK"}')
    if (kind === 'init') this.#fail(failureFrom(body))
    else if (id === this.#call?.id)
      this.#end(verb === 'error' ? { failed: failureFrom(body) } : { payload: body })
  }

  /** Hands the call to the client that waits for it. */
  #give(): void {
    const [next, call] = [this.#next, this.#call]
    if (!next || !call) return
    this.#next = undefined
    this.#signal('SIGCONT')
    next.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': call.id,
      'lambda-runtime-deadline-ms': `${call.deadline}`,
      'lambda-runtime-invoked-function-arn': arnOf(this.#name),
    })
    next.end(call.payload.length > 0 ? call.payload : '{}')
  }

  #end(end: SandboxEnd): void {
    const call = this.#call
    this.#call = undefined
    call?.ended.resolve(end)
  }

  #fail(failure: FunctionError): void {
    this.#failure ??= failure
    this.#end({ failed: this.#failure })
    this.end()
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid !== undefined && this.#process?.exitCode === null) process.kill(-pid, signal)
  }
}

const signalText: Readonly<Record<string, string>> = { SIGKILL: 'killed', SIGABRT: 'aborted' }

function failureFrom(body: Buffer): FunctionError {
  try {
    return JSON.parse(body.toString()) as FunctionError
  } catch {
    return { errorType: 'Runtime.Unknown', errorMessage: body.toString() }
  }
}
