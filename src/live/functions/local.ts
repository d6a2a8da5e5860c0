/** Functions as short-lived child processes, with the limits of serverless functions. They end with this process. */

import type { ChildProcess } from 'node:child_process'
import type { ClusterFunctions, FunctionLimits } from '../../front/transports/function.ts'
import type { AttemptEnd, Upstream } from '../../front/transports/transport.ts'
import { closeUpstream, type OwnedUpstream, upstreamAt } from '../../front/transports/upstream.ts'
import { UnreachableError } from '../../lib/errors.ts'
import { Outage } from '../../lib/outage.ts'
import { span } from '../../lib/quantities.ts'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { endOf, onOutputLine, startProcess } from '../../worker/processes/start-process.ts'
import { childEnvironment } from '../child-environment.ts'

export interface LocalFunctionsOptions extends FunctionLimits {
  id: string
  /** The command that starts one. It prints its port as a line of JSON. */
  command: string[]
  /** Authorizes attempts there. */
  token: string
  log(line: string): void
}

class Instance {
  readonly process: ChildProcess
  /** Rejects if it ends before it listens. */
  readonly upstream: Promise<OwnedUpstream>
  readonly gone: Promise<unknown>
  /** The only workload that it runs; undefined: any. */
  readonly workload: string | undefined
  /** The command that started it. */
  readonly command: readonly string[]
  busy = true
  /** Ends it after `keepWarmMs` of idleness. */
  idle: NodeJS.Timeout | undefined

  constructor(
    { id, command, token, log }: LocalFunctionsOptions,
    number: number,
    workload: string | undefined,
  ) {
    this.workload = workload
    this.command = command
    const only = workload === undefined ? [] : ['--only', workload]
    this.process = startProcess([...deathSignal(), ...command, ...only], {
      // Its input brings the token, and it ends when that closes.
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
      env: childEnvironment(),
    })
    this.process.stdin?.on('error', () => {}).write(`${token}\n`)
    this.gone = endOf(this.process)
    this.upstream = this.#reach(id, token, (line) => log(`function ${number}: ${line}`))
    // Nobody may await it.
    this.upstream.catch(() => {})
  }

  kill(): void {
    clearTimeout(this.idle)
    this.process.kill('SIGKILL')
    this.upstream.then(closeUpstream, () => {})
  }

  async #reach(id: string, token: string, log: (line: string) => void): Promise<OwnedUpstream> {
    const port = Promise.withResolvers<number>()
    let lastLine = ''
    const read = (line: string) => {
      const announced = portIn(line)
      if (announced !== undefined) return port.resolve(announced)
      if (line.trim() !== '') lastLine = `: ${line.trim()}`
      log(line)
    }
    onOutputLine(this.process, read)
    this.process.on('error', ({ message }) => port.reject(new UnreachableError(message)))
    this.process.on('close', () =>
      port.reject(new UnreachableError(`a function ended during its start${lastLine}`)),
    )
    return upstreamAt(id, { host: '127.0.0.1', port: await port.promise }, token)
  }
}

export class LocalFunctions implements ClusterFunctions {
  readonly id: string
  readonly #options: LocalFunctionsOptions
  readonly #instances = new Set<Instance>()
  /** The most recently used one comes last, and is used first. */
  readonly #warm: Instance[] = []
  readonly #starting: Outage
  #started = 0
  #closed = false

  constructor(options: LocalFunctionsOptions) {
    this.#options = { ...options }
    this.id = options.id
    const words = {
      failed: (why: string) => `functions: cannot be started: ${why}`,
      works: (lost: number) => `functions: start again, after ${lost} failed starts`,
    }
    this.#starting = new Outage(words, (line) => options.log(line))
  }

  list(): { pid: number | undefined; busy: boolean; workload?: string }[] {
    return [...this.#instances].map(({ process: { pid }, busy, workload }) => ({
      ...{ pid, busy },
      ...(workload !== undefined && { workload }),
    }))
  }

  async invoke(
    workload: string,
    signal: AbortSignal,
    use: (upstream: Upstream) => Promise<AttemptEnd | undefined>,
  ): Promise<AttemptEnd | undefined> {
    const { concurrency, timeoutMs, perWorkload } = this.#options
    const only = perWorkload ? workload : undefined
    const instance = this.#wake(only) ?? this.#start(only)
    if (!instance) return ended('throttled', `all ${concurrency} functions are busy`, 429)
    clearTimeout(instance.idle)
    instance.busy = true
    const timeUp = Promise.withResolvers<AttemptEnd>()
    const timer = setTimeout(() => {
      timeUp.resolve(ended('timeout', `it exceeded the function timeout of ${span(timeoutMs)}`, 504))
    }, timeoutMs)
    const abort = Promise.withResolvers<undefined>()
    const onAbort = () => abort.resolve(undefined)
    signal.addEventListener('abort', onAbort)
    let reusable = false
    try {
      const carried = instance.upstream.then(use)
      const end = await Promise.race([carried, timeUp.promise, abort.promise])
      reusable = end !== undefined && (end.outcome === 'result' || end.outcome === 'error')
      return end
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      if (reusable && !this.#closed && instance.command === this.#options.command) this.#rest(instance)
      else instance.kill()
    }
  }

  use(command: string[]): void {
    this.#options.command = command
    for (const instance of this.#warm.splice(0)) instance.kill()
  }

  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#instances]
    for (const instance of all) instance.kill()
    await Promise.all(all.map(({ gone }) => gone))
  }

  /** A warm function for this workload. */
  #wake(workload: string | undefined): Instance | undefined {
    const at = this.#warm.findLastIndex((each) => each.workload === workload)
    return at < 0 ? undefined : this.#warm.splice(at, 1)[0]
  }

  #start(workload: string | undefined): Instance | undefined {
    const { concurrency } = this.#options
    // Killed functions that have not exited yet do not count.
    const alive = () => [...this.#instances].filter(({ process: child }) => !child.killed).length
    // The warm function that was idle longest is evicted.
    if (alive() >= concurrency) this.#warm.shift()?.kill()
    if (this.#closed || alive() >= concurrency) return undefined
    const instance = new Instance(this.#options, ++this.#started, workload)
    this.#instances.add(instance)
    instance.upstream.then(
      () => this.#starting.works(),
      ({ message }: Error) => this.#closed || instance.process.killed || this.#starting.failed(message, 1),
    )
    instance.gone.then(() => {
      this.#instances.delete(instance)
      const at = this.#warm.indexOf(instance)
      if (at >= 0) this.#warm.splice(at, 1)
      instance.kill()
    })
    return instance
  }

  #rest(instance: Instance): void {
    instance.busy = false
    if (instance.process.exitCode !== null || instance.process.signalCode !== null) return
    this.#warm.push(instance)
    instance.idle = setTimeout(() => {
      this.#warm.splice(this.#warm.indexOf(instance), 1)
      instance.kill()
    }, this.#options.keepWarmMs)
    instance.idle.unref()
  }
}

function ended(outcome: 'throttled' | 'timeout', message: string, status: number): AttemptEnd {
  return { outcome, message, status }
}

function portIn(line: string): number | undefined {
  return Number(/^\{"port":(\d+)\}$/.exec(line)?.[1] ?? Number.NaN) || undefined
}
