/** Workers as child processes. They end with this process, however it ends. */

import type { ChildProcess, SendHandle } from 'node:child_process'
import { once } from 'node:events'
import { withOriginalPaths } from '../../lib/kept-path.ts'
import { workerNameOf } from '../../model/worker.ts'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { onOutputLine, startProcess } from '../../worker/processes/start-process.ts'
import { childEnvironment } from '../child-environment.ts'
import { giveToken } from '../child-token.ts'
import type { FromFrontProcess, ToFrontProcess } from '../fronts/front-channel.ts'
import type { Listed, Provider, ProviderEvents } from './provider.ts'

/** Time allowed for a worker to end its slots. */
const usualGraceMs = 2_000
/** Enough for a stack trace. */
const mostLines = 40
/** Of the command line's own messages. */
const ownPrefix = 'plimsoll: '

export interface LocalFleetOptions {
  /** Called at each launch: the command that starts its worker, to which `--launch ID` is appended. */
  command(launch: string): readonly string[]
  /** Each worker is given one of these, appended as `--upstream URL`. Default: none. */
  upstreams?: readonly string[]
  /** Set if workers may become fronts: they then accept connections from this queue. */
  queue?(): SendHandle
  /** When the fleet closes, a worker that has not ended after this time is killed. Default 2,000. */
  graceMs?: number
  /** With which workers join. */
  token: string
  /** Further environment of workers. */
  env?: Record<string, string>
  log(line: string): void
}

interface Child {
  process: ChildProcess
  since: number
  upstream: string | undefined
  joined: boolean
  /** It was told to end, and its grace period runs. */
  ending: boolean
  /** Its last lines, reported if it crashes at start. */
  lines: string[]
}

export function localFleet(options: LocalFleetOptions, events: ProviderEvents): Provider {
  return new LocalFleet(options, events)
}

class LocalFleet implements Provider {
  readonly #options: LocalFleetOptions
  readonly #events: ProviderEvents
  readonly #children = new Map<string, Child>()
  #closed = false

  constructor(options: LocalFleetOptions, events: ProviderEvents) {
    this.#options = options
    this.#events = events
  }

  launch(id: string): void {
    if (this.#closed) return
    const { upstreams } = this.#options
    const taken = [...this.#children.values()].map(({ upstream }) => upstream)
    const upstream = upstreams?.find((each) => !taken.includes(each))
    if (upstreams && upstream === undefined) {
      return this.#events.launchFailed(id, 'each upstream has a worker already')
    }
    const child = this.#spawn(id, upstream)
    this.#children.set(id, child)
    let reported = false
    const end = (message: string) => {
      if (reported) return
      reported = true
      this.#children.delete(id)
      if (child.joined) this.#events.gone(id, message)
      else this.#events.launchFailed(id, withReason(message, child.lines), outputOf(child))
    }
    child.process.on('error', (error) => {
      // The error may also be that of a signal or a message; then the worker is alive.
      if (child.process.pid === undefined) end(error.message)
    })
    // At `close` all its output has been read.
    child.process.on('close', (code, signal) =>
      end(signal ? `killed by ${signal}` : `exited with code ${code}`),
    )
  }

  joined(id: string): void {
    const child = this.#children.get(id)
    if (child) child.joined = true
  }

  async list(): Promise<readonly Listed[]> {
    return [...this.#children]
      .filter(([, child]) => isAlive(child) && !child.ending)
      .map(([launch, { since }]) => ({ launch, since }))
  }

  terminate(id: string, graceMs = 0): void {
    const child = this.#children.get(id)
    if (!child || !isAlive(child)) return
    if (graceMs <= 0) return void child.process.kill('SIGKILL')
    child.ending = true
    const force = setTimeout(() => child.process.kill('SIGKILL'), graceMs)
    child.process.once('exit', () => clearTimeout(force))
  }

  async close(): Promise<void> {
    const { graceMs = usualGraceMs } = this.#options
    this.#closed = true
    const alive = [...this.#children].filter(([, child]) => isAlive(child))
    const ends = alive.map(([, { process: child }]) => once(child, 'exit'))
    // A worker that ends by itself ends its slots first.
    for (const [, { process: child }] of alive) child.kill('SIGTERM')
    const force = setTimeout(() => {
      for (const [id, child] of alive.filter(([, each]) => isAlive(each))) {
        this.#options.log(`worker ${workerNameOf(id)}: has not ended after ${graceMs / 1000} s and is killed`)
        child.process.kill('SIGKILL')
      }
    }, graceMs)
    await Promise.all(ends)
    clearTimeout(force)
  }

  #spawn(id: string, upstream: string | undefined): Child {
    const { command, queue, token, env, log } = this.#options
    const upstreamFlag = upstream === undefined ? [] : ['--upstream', upstream]
    const worker = startProcess([...deathSignal(), ...command(id), ...upstreamFlag, '--launch', id], {
      stdio: ['pipe', 'pipe', 'pipe', ...(queue ? (['ipc'] as const) : [])],
      // In its own process group: Ctrl-C must let the cluster finish its requests first.
      detached: true,
      env: { ...childEnvironment(), ...env },
    })
    giveToken(worker, token)
    const state = { upstream, joined: false, ending: false, lines: [] }
    const child: Child = { process: worker, since: Date.now(), ...state }
    onOutputLine(worker, (line) => {
      const shown = withOriginalPaths(line)
      if (line.trim() !== '' && child.lines.push(shown) > mostLines) child.lines.shift()
      log(`worker ${workerNameOf(id)}: ${shown}`)
    })
    worker.on('message', ({ type }: FromFrontProcess) => {
      // All share one queue of connections, so a worker that ends strands none.
      if (type === 'wants-port' && queue)
        worker.send({ type: 'port' } satisfies ToFrontProcess, queue(), () => {})
    })
    return child
  }
}

/** The reason is what Plimsoll says of it, or else the last line that is not part of a stack trace. */
function withReason(message: string, lines: readonly string[]): string {
  const told = lines.findLast((line) => line.startsWith(ownPrefix))
  if (told !== undefined) return told.slice(ownPrefix.length)
  const last = lines.findLast((line) => !/^\s+at /.test(line))
  return last === undefined ? message : `${message}: ${last.trim()}`
}

function outputOf({ lines }: Child): string {
  return lines.filter((line) => !line.startsWith(ownPrefix)).join('\n')
}

function isAlive({ process: { exitCode, signalCode, pid } }: Child): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}
