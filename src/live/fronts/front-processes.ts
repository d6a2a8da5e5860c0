/** Further fronts on the cluster's machine and port: started, restarted when they end, and replaced one at a time. */

import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import { endOf, onOutputLine, startProcess } from '../../worker/processes/start-process.ts'
import { childEnvironment, giveToken } from '../child-token.ts'
import type { FromChild, ToChild } from './shared-port.ts'

export interface FrontProcessesOptions {
  count: number
  /** Called at each start: the command, to which `--launch ID` is appended. */
  command(): readonly string[]
  /** With which fronts join. */
  token: string
  /** The front of this process. It must listen before `start`. */
  server: Server
  host: string
  /** A front's process has ended. */
  gone(id: string): void
  /** Tells a front to finish its requests and end. */
  leave(id: string): void
  log(line: string): void
}

interface Child {
  id: string
  process: ChildProcess
  /** Rejects if it ends first. */
  listening: Promise<void>
  exited: Promise<unknown>
  leaving: boolean
}

/** Backoff of restarts; it resets for a front that lasted `soonMs`. */
const [firstWaitMs, longestWaitMs, soonMs] = [250, 30_000, 10_000]
/** Time allowed to start listening. */
const startMs = 30_000
/** A rolling restart waits this long for a front to end. */
const leaveMs = 40_000
/** Time allowed to hand over the queue of connections. */
const handOverMs = 2_000

export class FrontProcesses {
  readonly #options: FrontProcessesOptions
  readonly #seats: (Child | undefined)[]
  readonly #children = new Set<Child>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #started = 0
  #closed = false

  constructor(options: FrontProcessesOptions) {
    this.#options = options
    this.#seats = Array<undefined>(options.count).fill(undefined)
  }

  /** Resolves when all listen, or their first start has failed. */
  async start(): Promise<void> {
    const children = this.#seats.map((_, seat) => this.#fill(seat, firstWaitMs))
    await Promise.all(children.map((child) => child?.listening.catch(() => {})))
  }

  /** Replaces one front at a time: its successor listens before it is told to leave. Rejects if one does not start. */
  async *roll(): AsyncGenerator<{ front: string; by: string }> {
    for (const seat of this.#seats.keys()) {
      if (this.#closed) throw new Error('the cluster is stopping')
      const before = this.#seats[seat]
      const next = this.#launch(before)
      await next.listening
      this.#watch(seat, next, firstWaitMs)
      if (!before || !this.#children.has(before)) continue
      before.leaving = true
      this.#options.leave(before.id)
      await Promise.race([before.exited, this.#wait(leaveMs)])
      yield { front: before.id, by: next.id }
    }
  }

  /** Ends all, forcibly after `graceMs`, and resolves when none is left. Idempotent. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true
    for (const timer of this.#timers) clearTimeout(timer)
    const all = [...this.#children]
    for (const child of all) child.process.kill('SIGTERM')
    const force = setTimeout(() => {
      for (const child of all) child.process.kill('SIGKILL')
    }, graceMs)
    await Promise.all(all.map(({ exited }) => exited))
    clearTimeout(force)
  }

  #fill(seat: number, waitMs: number): Child | undefined {
    if (this.#closed) return undefined
    const child = this.#launch()
    this.#watch(seat, child, waitMs)
    return child
  }

  #watch(seat: number, child: Child, waitMs: number): void {
    this.#seats[seat] = child
    const began = performance.now()
    void child.exited.then(() => {
      if (this.#seats[seat] !== child || child.leaving || this.#closed) return
      this.#seats[seat] = undefined
      const lasted = performance.now() - began > soonMs
      const nextMs = lasted ? firstWaitMs : Math.min(longestWaitMs, waitMs * 2)
      void this.#wait(lasted ? firstWaitMs : waitMs).then(() => {
        // A rolling restart may have filled it already.
        if (!this.#seats[seat]) this.#fill(seat, nextMs)
      })
    })
  }

  /** `before`: the front whose queue of connections it takes over. */
  #launch(before?: Child): Child {
    const { command, token, log, gone } = this.#options
    const id = `f${++this.#started}`
    const front = startProcess([...deathSignal(), ...command(), '--launch', id], {
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
      // In its own process group: Ctrl-C must let the cluster finish its requests first.
      detached: true,
      env: childEnvironment(),
    })
    giveToken(front, token)
    let lastLine = ''
    onOutputLine(front, (line) => {
      if (line.trim() !== '') lastLine = `: ${line.trim()}`
      log(line.startsWith('front') ? line : `front ${id}: ${line}`)
    })
    const listening = Promise.withResolvers<void>()
    // Nobody may await it.
    listening.promise.catch(() => {})
    const exited = endOf(front)
    const child: Child = { id, process: front, listening: listening.promise, exited, leaving: false }
    this.#children.add(child)
    const late = setTimeout(() => front.kill('SIGKILL'), startMs)
    front.on('error', (error) => {
      if (front.pid === undefined) lastLine = `: ${error.message}`
      listening.reject(error)
    })
    front.on('message', ({ type }: FromChild) => {
      if (type === 'wants-port') void this.#givePort(child, before)
      if (type !== 'listening') return
      clearTimeout(late)
      listening.resolve()
    })
    void exited.then(() => {
      clearTimeout(late)
      this.#children.delete(child)
      listening.reject(new Error(`front ${id} did not start${lastLine}`))
      if (!child.leaving && !this.#closed) log(`front ${id}: ended${lastLine}`)
      gone(id)
    })
    return child
  }

  /** A queue of its own, or its predecessor's, so that connections queued there are not reset when that ends. */
  async #givePort(child: Child, before: Child | undefined): Promise<void> {
    const { server, host } = this.#options
    const { port } = server.address() as AddressInfo
    const queue = before && (await this.#queueOf(before))
    child.process.send({ type: 'port', port, host } satisfies ToChild, queue, () => {})
    if (!queue) return
    await child.listening.catch(() => {})
    queue.close()
  }

  /** While this process holds the queue, it accepts from it too. Undefined: the front did not hand it over. */
  async #queueOf(before: Child): Promise<NetServer | undefined> {
    const given = Promise.withResolvers<NetServer | undefined>()
    let late = false
    const take = ({ type }: FromChild, handle: unknown) => {
      if (type !== 'port') return
      // Without free descriptors the message comes without the handle.
      if (!handle) return given.resolve(undefined)
      const queue = handle as NetServer
      // The settings that HTTP servers use.
      Object.assign(queue, { allowHalfOpen: true, noDelay: true })
      queue.on('connection', (socket) => this.#options.server.emit('connection', socket))
      given.resolve(queue)
      if (late) queue.close()
    }
    before.process.on('message', take)
    before.process.send({ type: 'give-port' } satisfies ToChild, undefined, () => {})
    const queue = await Promise.race([
      given.promise,
      this.#wait(handOverMs),
      before.exited.then(() => undefined),
    ])
    late = true
    return queue ?? undefined
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        resolve()
      }, ms)
      this.#timers.add(timer)
    })
  }
}
