/** Workers as child processes of this one. They end with it, however it ends. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { deathSignal } from '../worker/guard.ts'
import type { Provider, ProviderEvents } from './provider.ts'

export interface LocalFleetOptions {
  /** What starts a worker; `--launch ID` is appended. */
  command: string[]
  env: Record<string, string>
  log(line: string): void
}

interface Child {
  process: ChildProcess
  joined: boolean
  /** The last thing it said, for the report of a worker that crashes at start. */
  lastWords: string
}

export function localFleet(options: LocalFleetOptions, events: ProviderEvents): Provider {
  const children = new Map<string, Child>()
  let closed = false

  function launch(id: string): void {
    if (closed) return
    const [command, ...args] = [...deathSignal(), ...options.command, '--launch', id]
    const child: Child = {
      process: spawn(command!, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...options.env },
      }),
      joined: false,
      lastWords: '',
    }
    children.set(id, child)
    for (const output of [child.process.stdout!, child.process.stderr!]) {
      createInterface({ input: output }).on('line', (line) => {
        if (line.trim() !== '') child.lastWords = line.trim()
        options.log(`worker ${id}: ${line}`)
      })
    }
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
    terminate: (id) => void children.get(id)?.process.kill('SIGKILL'),
    list: () => [...children.keys()],
    async close() {
      closed = true
      const ends = [...children.values()].map(({ process: child }) =>
        child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
      )
      for (const { process: child } of children.values()) child.kill('SIGKILL')
      await Promise.all(ends)
    },
  }
}
