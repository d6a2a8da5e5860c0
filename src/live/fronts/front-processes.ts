/** Further fronts on the cluster's own machine and port: started, watched, started again, and replaced one by one. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { createInterface } from 'node:readline'
import { deathSignal } from '../../worker/slots/guard.ts'
import type { FromChild, ToChild } from './shared-port.ts'

export interface FrontProcessesOptions {
  count: number
  /** Called at each start: the command, to which `--launch ID` is appended. */
  command(): readonly string[]
  env: Record<string, string>
  /** The front of this process, which listens already. */
  server: Server
  host: string
  /** Its process has ended. */
  gone(id: string): void
  /** It is to take nothing more, finish what it has, and end. */
  leave(id: string): void
  log(line: string): void
}

interface Child {
  id: string
  process: ChildProcess
  /** Rejects if it ends before. */
  listening: Promise<void>
  exited: Promise<unknown>
  leaving: boolean
}

/** One that ends is started again, ever later if it ends soon. */
const [firstWaitMs, longestWaitMs, soonMs] = [250, 30_000, 10_000]
/** One that does not listen after so long is not waited for. */
const startMs = 30_000
/** One that was to leave is waited for so long before the next one's turn. */
const leaveMs = 40_000
/** One that does not hand over its queue after so long cannot. */
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

  /** Resolves when all listen, or came to nothing for the first time. */
  async start(): Promise<void> {
    const children = this.#seats.map((_, seat) => this.#fill(seat, firstWaitMs))
    await Promise.all(children.map((child) => child?.listening.catch(() => {})))
  }

  /** Replaces one after another: its successor listens before it is told to leave. Rejects if one does not come up. */
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

  /** Ends all, after `graceMs` whatever they do, and resolves when none is left. Idempotent. */
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
        // One that was to replace it may have come up.
        if (!this.#seats[seat]) this.#fill(seat, nextMs)
      })
    })
  }

  /** `before`: whose queue it is to go on with. */
  #launch(before?: Child): Child {
    const { command, env, log, gone } = this.#options
    const id = `f${++this.#started}`
    const [program, ...args] = [...deathSignal(), ...command(), '--launch', id]
    const front = spawn(program!, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // In a group of its own, so that a Ctrl-C meant for the cluster does not end it before what it has is answered.
      detached: true,
      env: { ...process.env, ...env },
    })
    let lastWords = ''
    for (const output of [front.stdout!, front.stderr!]) {
      createInterface({ input: output }).on('line', (line) => {
        if (line.trim() !== '') lastWords = `: ${line.trim()}`
        log(line.startsWith('front') ? line : `front ${id}: ${line}`)
      })
    }
    const listening = Promise.withResolvers<void>()
    // Nobody may be waiting for it.
    listening.promise.catch(() => {})
    const exited = once(front, 'close').catch(() => {})
    const child: Child = { id, process: front, listening: listening.promise, exited, leaving: false }
    this.#children.add(child)
    const late = setTimeout(() => front.kill('SIGKILL'), startMs)
    front.on('error', (error) => listening.reject(error))
    front.on('message', ({ type }: FromChild) => {
      if (type === 'wants-port') void this.#givePort(child, before)
      if (type !== 'listening') return
      clearTimeout(late)
      listening.resolve()
    })
    void exited.then(() => {
      clearTimeout(late)
      this.#children.delete(child)
      listening.reject(new Error(`front ${id} did not come up${lastWords}`))
      if (!child.leaving && !this.#closed) log(`front ${id}: ended${lastWords}`)
      gone(id)
    })
    return child
  }

  /** A queue of its own, or that of the one before, so that nobody who waits in it is turned away when that ends. */
  async #givePort(child: Child, before: Child | undefined): Promise<void> {
    const { server, host } = this.#options
    const { port } = server.address() as AddressInfo
    const queue = before && (await this.#queueOf(before))
    child.process.send({ type: 'port', port, host } satisfies ToChild, queue, () => {})
    if (!queue) return
    await child.listening.catch(() => {})
    queue.close()
  }

  /** Meanwhile this process takes from it too. Undefined: it cannot be had any more. */
  async #queueOf(before: Child): Promise<NetServer | undefined> {
    const given = Promise.withResolvers<NetServer | undefined>()
    let late = false
    const take = ({ type }: FromChild, handle: unknown) => {
      if (type !== 'port') return
      const queue = handle as NetServer
      // As those have it that are made for HTTP.
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
