/** Workers as child processes of this one. They end with it, however it ends. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { deathSignal } from '../../worker/processes/death-signal.ts'
import type { FromChild, ToChild } from '../fronts/shared-port.ts'
import type { Provider, ProviderEvents } from './provider.ts'

/** How long a worker may take to end its slots. */
const usualGraceMs = 2_000

export interface LocalFleetOptions {
  /** What starts a worker; `--launch ID` is appended. */
  command: string[]
  /** Each worker stands for one of these, appended as `--upstream URL`, that no other stands for. Default: none does. */
  upstreams?: readonly string[]
  /** Workers may become fronts: then they take connections from the same queue as this one. Default: they never do. */
  door?: Door
  /** When the fleet closes, a worker that has not ended after this time is killed. Default: 2 s. */
  graceMs?: number
  env: Record<string, string>
  log(line: string): void
}

export interface Door {
  server: Server
  host: string
}

interface Child {
  process: ChildProcess
  since: number
  upstream: string | undefined
  joined: boolean
  /** It was told to end, and is given time for that. */
  ending: boolean
  /** The last thing it said, for the report of a worker that crashes at start. */
  lastWords: string
}

export function localFleet(options: LocalFleetOptions, events: ProviderEvents): Provider {
  const children = new Map<string, Child>()
  const { graceMs: closeMs = usualGraceMs } = options

  let closed = false

  function launch(id: string): void {
    if (closed) return
    const taken = [...children.values()].map(({ upstream }) => upstream)
    const upstream = options.upstreams?.find((each) => !taken.includes(each))
    if (options.upstreams && upstream === undefined) {
      return events.launchFailed(id, 'each upstream has a worker already')
    }
    const standsFor = upstream === undefined ? [] : ['--upstream', upstream]
    const [command, ...args] = [...deathSignal(), ...options.command, ...standsFor, '--launch', id]
    const child: Child = {
      process: spawn(command!, args, {
        stdio: ['ignore', 'pipe', 'pipe', ...(options.door ? (['ipc'] as const) : [])],
        // In a group of its own, so that a Ctrl-C meant for the cluster does not end what its requests run on.
        detached: true,
        env: { ...process.env, ...options.env },
      }),
      since: Date.now(),
      upstream,
      joined: false,
      ending: false,
      lastWords: '',
    }
    children.set(id, child)
    for (const output of [child.process.stdout!, child.process.stderr!]) {
      createInterface({ input: output }).on('line', (line) => {
        if (line.trim() !== '') child.lastWords = line.trim()
        options.log(`worker ${id}: ${line}`)
      })
    }
    child.process.on('message', ({ type }: FromChild) => {
      if (type === 'wants-port' && options.door) givePort(child.process, options.door)
    })
    let told = false
    const end = (message: string) => {
      if (told) return
      told = true
      children.delete(id)
      if (child.joined) events.gone(id, message)
      else events.launchFailed(id, child.lastWords ? `${message}: ${child.lastWords}` : message)
    }
    child.process.on('error', (error) => end(error.message))
    // After `close` all it said has been read.
    child.process.on('close', (code, signal) =>
      end(signal ? `killed by ${signal}` : `exited with code ${code}`),
    )
  }

  return {
    launch,
    joined(id) {
      const child = children.get(id)
      if (child) child.joined = true
    },
    async list() {
      return [...children]
        .filter(([, child]) => isAlive(child) && !child.ending)
        .map(([launch, { since }]) => ({ launch, since }))
    },
    terminate(id, graceMs = 0) {
      const child = children.get(id)
      if (!child || !isAlive(child)) return
      if (graceMs <= 0) return void child.process.kill('SIGKILL')
      child.ending = true
      const force = setTimeout(() => child.process.kill('SIGKILL'), graceMs)
      child.process.once('exit', () => clearTimeout(force))
    },
    async close() {
      closed = true
      const alive = [...children].filter(([, child]) => isAlive(child))
      const ends = alive.map(([, { process: child }]) => once(child, 'exit'))
      // Asked first: a worker that ends by itself has seen its slots end.
      for (const [, { process: child }] of alive) child.kill('SIGTERM')
      const force = setTimeout(() => {
        for (const [id, child] of alive.filter(([, each]) => isAlive(each))) {
          options.log(`worker ${id}: has not ended after ${closeMs / 1000} s, and is killed`)
          child.process.kill('SIGKILL')
        }
      }, closeMs)
      await Promise.all(ends)
      clearTimeout(force)
    },
  }
}

function isAlive({ process: { exitCode, signalCode, pid } }: Child): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

/** Who ends leaves nobody behind in a queue of its own: there is but one. */
function givePort(child: ChildProcess, { server, host }: Door): void {
  const { port } = server.address() as AddressInfo
  child.send({ type: 'port', port, host } satisfies ToChild, server, () => {})
}
