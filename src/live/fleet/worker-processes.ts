/** Workers as child processes. They end with this process, however it ends. */

import type { ChildProcess, SendHandle } from 'node:child_process'
import { once } from 'node:events'
import { withOriginalPaths } from '../../lib/kept-path.ts'
import type { Listed, ProviderEvents } from '../../model/provider.ts'
import { workerNameOf } from '../../model/worker.ts'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { onOutputLine, startProcess } from '../../worker/processes/start-process.ts'
import { childEnvironment } from '../child-environment.ts'
import { giveToken } from '../child-token.ts'
import type { FromFrontProcess, ToFrontProcess } from '../fronts/front-channel.ts'

/** Time allowed for a worker to end its slots. */
const usualGraceMs = 2_000
/** Enough for a stack trace. */
const mostLines = 40
/** Of the command line's own messages. */
const ownPrefix = 'plimsoll: '

/** How a worker is started. Plain data, so that another process may ask for it. */
export interface WorkerStart {
  /** `--launch ID` is appended. */
  command: readonly string[]
  /** The worker is given one of these that no other worker has, appended as `--upstream URL`. Default: none. */
  upstreams?: readonly string[]
  /** With which it joins. */
  token: string
  /** Further environment. */
  env?: Record<string, string>
  /** True: it may become a front, and then accepts connections from the cluster's queue. */
  wantsQueue?: boolean
}

export interface WorkerProcessesParts {
  events: ProviderEvents
  /** The queue of connections, for workers that become fronts. */
  queue(): SendHandle
  /** Default: `startProcess`. */
  start?: typeof startProcess | undefined
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

/** A worker that runs. `joined`: the brain has said so. */
export interface RunningWorker extends Listed {
  joined: boolean
}

export class WorkerProcesses {
  readonly #parts: WorkerProcessesParts
  readonly #children = new Map<string, Child>()
  #closed = false

  constructor(parts: WorkerProcessesParts) {
    this.#parts = parts
  }

  /** Returns at once; failures are reported as events. */
  launch(id: string, start: WorkerStart): void {
    if (this.#closed) return
    const { upstreams } = start
    const taken = [...this.#children.values()].map(({ upstream }) => upstream)
    const upstream = upstreams?.find((each) => !taken.includes(each))
    const { events } = this.#parts
    if (upstreams && upstream === undefined) {
      return events.launchFailed(id, 'each upstream has a worker already')
    }
    const child = this.#spawn(id, start, upstream)
    this.#children.set(id, child)
    let reported = false
    const end = (message: string) => {
      if (reported) return
      reported = true
      this.#children.delete(id)
      if (child.joined) events.gone(id, message)
      else events.launchFailed(id, withReason(message, child.lines), outputOf(child))
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

  /** Workers that have not been told to end. */
  list(): RunningWorker[] {
    return [...this.#children]
      .filter(([, child]) => isAlive(child) && !child.ending)
      .map(([launch, { since, joined }]) => ({ launch, since, joined }))
  }

  terminate(id: string, graceMs = 0): void {
    const child = this.#children.get(id)
    if (!child || !isAlive(child)) return
    if (graceMs <= 0) return void child.process.kill('SIGKILL')
    child.ending = true
    const force = setTimeout(() => child.process.kill('SIGKILL'), graceMs)
    child.process.once('exit', () => clearTimeout(force))
  }

  /** Ends all workers, and resolves when none is left. Idempotent. */
  async close(graceMs = usualGraceMs): Promise<void> {
    this.#closed = true
    const alive = [...this.#children].filter(([, child]) => isAlive(child))
    const ends = alive.map(([, { process: child }]) => once(child, 'exit'))
    // A worker that ends by itself ends its slots first.
    for (const [, { process: child }] of alive) child.kill('SIGTERM')
    const force = setTimeout(() => {
      for (const [id, child] of alive.filter(([, each]) => isAlive(each))) {
        this.#parts.log(`worker ${workerNameOf(id)}: has not ended after ${graceMs / 1000} s and is killed`)
        child.process.kill('SIGKILL')
      }
    }, graceMs)
    await Promise.all(ends)
    clearTimeout(force)
  }

  #spawn(id: string, start: WorkerStart, upstream: string | undefined): Child {
    const { queue, log } = this.#parts
    const { command, wantsQueue, token, env } = start
    const upstreamFlag = upstream === undefined ? [] : ['--upstream', upstream]
    const spawn = this.#parts.start ?? startProcess
    const worker = spawn([...deathSignal(), ...command, ...upstreamFlag, '--launch', id], {
      stdio: ['pipe', 'pipe', 'pipe', ...(wantsQueue ? (['ipc'] as const) : [])],
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
      if (type === 'wants-port' && wantsQueue)
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
