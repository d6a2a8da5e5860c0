/** The channel between a front and the process that started it: its settings, its socket, and how it leaves. */

import type { Server } from 'node:http'
import { ConfigError } from '../../lib/errors.ts'
import type { KeeperAddress } from '../../wire/kept.ts'
import type { KeeperChannel } from '../keeper/front-keeper.ts'

/** What a front must know to join. It is sent, because other users can see command lines and environments. */
export interface FrontSettings {
  /** Options of `plimsoll front`. */
  args: readonly string[]
  token: string
}

export type ToFrontProcess =
  | ({ type: 'begin' } & FrontSettings)
  /** With a handle: listen on it. */
  | { type: 'port' }
  /** A successor listens: finish all requests within this time, accept no more, and end. */
  | { type: 'leave'; limitMs: number }
  /** Where the keeper is; without an address, it has ended. */
  | { type: 'keeper'; address?: KeeperAddress }

export type FromFrontProcess =
  | { type: 'wants-port' }
  | { type: 'listening' }
  /** The front leaves, with this number of requests in progress. */
  | { type: 'leaving'; requests: number }
  /** A request is to be kept, and no keeper is known. */
  | { type: 'wants-keeper' }
  /** The keeper may send requests to this port; without one, no more. */
  | { type: 'for-keeper'; port?: number }

/** The process that started this front. */
export interface FrontParent extends SharedPort {
  keeper: KeeperChannel
  /** Undefined: the signal was aborted before it sent any. */
  settings(signal: AbortSignal): Promise<FrontSettings | undefined>
  /** Closes the channel, which would keep this process alive. */
  close(): void
}

/** The cluster's port, in a process that the cluster started. */
export interface SharedPort {
  /** Resolves when the server accepts connections. */
  listen(server: Server): Promise<void>
  /** The front is replaced, and has this time to finish its requests. */
  onLeave(leave: (limitMs: number) => void): void
  /** Undefined: requests cannot be kept here. */
  keeper?: KeeperChannel
  /** Reports the number of requests in progress as the front leaves. */
  leaving(requests: number): void
}

/** This process ends with its parent. */
export function frontParent(): FrontParent {
  if (!process.send) throw new ConfigError('--shared: only for fronts that a cluster starts')
  const begun = Promise.withResolvers<FrontSettings>()
  const end = () => process.exit(1)
  process.on('disconnect', end)
  if (!process.connected) end()
  process.on('message', (message: ToFrontProcess) => {
    if (message.type === 'begin') begun.resolve({ args: message.args, token: message.token })
  })
  return {
    ...sharedPort(),
    keeper: {
      want: () => tell({ type: 'wants-keeper' }),
      onAddress(then) {
        process.on('message', (message: ToFrontProcess) => {
          if (message.type === 'keeper') then(message.address)
        })
      },
      accept: (port) => tell({ type: 'for-keeper', ...(port !== undefined && { port }) }),
    },
    settings(signal) {
      const aborted = new Promise<undefined>((resolve) => {
        signal.addEventListener('abort', () => resolve(undefined), { once: true })
        if (signal.aborted) resolve(undefined)
      })
      return Promise.race([begun.promise, aborted])
    },
    close() {
      process.off('disconnect', end)
      if (process.connected) process.disconnect()
    },
  }
}

function tell(message: FromFrontProcess): void {
  process.send?.(message, undefined, {}, () => {})
}

/** Also for workers that become fronts. */
export function sharedPort(): SharedPort {
  return {
    async listen(server) {
      const listening = Promise.withResolvers<void>()
      server.once('error', listening.reject)
      process.on('message', ({ type }: ToFrontProcess, handle: unknown) => {
        if (type === 'port') server.listen(handle, listening.resolve)
      })
      tell({ type: 'wants-port' })
      await listening.promise
      tell({ type: 'listening' })
    },
    onLeave(leave) {
      process.on('message', (message: ToFrontProcess) => {
        if (message.type === 'leave') leave(message.limitMs)
      })
    },
    leaving: (requests) => tell({ type: 'leaving', requests }),
  }
}
