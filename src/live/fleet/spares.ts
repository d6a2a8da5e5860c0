/**
 * A fleet that can have a worker up before anyone asks for it, so that a replacement is there when what it replaces goes.
 * Whoever asks for the next launch is given that one; until then nobody hears of it.
 */

import type { Provider, ProviderEvents } from './provider.ts'

export interface SpareFleet extends Provider {
  /** Starts a worker under a name of its own, and resolves when it has come to join. Rejects if it has not within `limitMs`. */
  prepare(name: string, limitMs: number): Promise<void>
  /** A worker has come to join. True: it is a spare one, and is admitted later, as that of the launch it is then given to. */
  park(launch: string | undefined, admit: (launch: string, bootMs: number) => void): boolean
  /** A worker has come to join, and may not. If it is a spare one, it is of no use. */
  refused(launch: string | undefined, why: string): void
  /** Ends a spare worker that nobody asked for. True: there was one. */
  drop(): boolean
}

interface Spare {
  name: string
  began: number
  up: PromiseWithResolvers<void>
  /** Of its coming up. */
  limit: NodeJS.Timeout
  /** Set once it has come to join. */
  admit?: (launch: string) => void
}

export function spareFleet(open: (events: ProviderEvents) => Provider, events: ProviderEvents): SpareFleet {
  /** Spare workers by their own names, and the launches that they were given to. */
  const given = new Map<string, string>()
  const own = new Map<string, string>()
  let closed = false
  let spare: Spare | undefined

  const failed = ({ name, up, limit }: Spare, message: string) => {
    spare = undefined
    clearTimeout(limit)
    up.reject(new Error(`worker ${name}: ${message}`))
  }
  const ended = (name: string, message: string, tell: (launch: string, message: string) => void) => {
    if (spare?.name === name) return failed(spare, message)
    const launch = given.get(name) ?? name
    given.delete(name)
    own.delete(launch)
    tell(launch, message)
  }
  const real = open({
    launchFailed: (name, message) => ended(name, message, events.launchFailed),
    gone: (name, message) => ended(name, message, events.gone),
  })
  const nameOf = (launch: string) => own.get(launch) ?? launch

  return {
    launch(launch) {
      if (!spare?.admit) return real.launch(launch)
      const { name, admit } = spare
      spare = undefined
      given.set(name, launch)
      own.set(launch, name)
      admit(launch)
    },
    joined: (launch) => real.joined(nameOf(launch)),
    async list() {
      const all = await real.list()
      return all
        .filter(({ launch }) => launch !== spare?.name)
        .map((listed) => ({ ...listed, launch: given.get(listed.launch) ?? listed.launch }))
    },
    terminate: (launch, graceMs) => real.terminate(nameOf(launch), graceMs),
    close() {
      closed = true
      if (spare) failed(spare, 'the fleet is closed')
      return real.close()
    },
    prepare(name, limitMs) {
      if (closed) return Promise.reject(new Error('the fleet is closed'))
      const up = Promise.withResolvers<void>()
      const limit = setTimeout(() => {
        if (spare?.name !== name) return
        failed(spare, `did not join within ${limitMs / 1000} s`)
        real.terminate(name)
      }, limitMs)
      spare = { name, up, limit, began: performance.now() }
      real.launch(name)
      return up.promise
    },
    park(launch, admit) {
      if (spare?.name !== launch || !spare) return false
      const bootMs = Math.round(performance.now() - spare.began)
      spare.admit = (given) => admit(given, bootMs)
      clearTimeout(spare.limit)
      spare.up.resolve()
      return true
    },
    refused(launch, why) {
      if (spare?.name !== launch || !spare) return
      const { name } = spare
      failed(spare, `refused: ${why}`)
      real.terminate(name)
    },
    drop() {
      if (!spare) return false
      const { name } = spare
      failed(spare, 'nobody asked for it')
      real.terminate(name)
      return true
    },
  }
}
