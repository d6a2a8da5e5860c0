/** Periodically lists the provider's machines for the brain. */

import type { Event } from '../../model/event.ts'
import type { Provider } from '../../model/provider.ts'

export interface InventoryOptions {
  provider: Pick<Provider, 'list'>
  everyMs: number
  /** Timeout of a list, after which the next is requested. A late list is still used, with the time of its request. */
  limitMs: number
  now(): number
  tell(event: Extract<Event, { type: 'listed' }>): void
  log(line: string): void
}

export interface Inventory {
  /** Requests a list now, unless one is pending. */
  ask(): void
  /** Idempotent. */
  close(): void
}

export function takeInventory({ provider, everyMs, limitMs, now, tell, log }: InventoryOptions): Inventory {
  let pending: { askedAt: number } | undefined
  let closed = false
  /** Logged once, until it changes. */
  let reported = ''

  function report(message: string): void {
    if (message !== '' && message !== reported) log(`fleet: the provider's list is unavailable: ${message}`)
    reported = message
  }

  function ask(): void {
    const askedAt = now()
    if (closed) return
    if (pending) {
      if (askedAt - pending.askedAt < limitMs) return
      report(`no answer for ${limitMs / 1000} s`)
    }
    const mine = { askedAt }
    pending = mine
    const ended = () => {
      if (pending === mine) pending = undefined
    }
    provider.list().then(
      (machines) => {
        ended()
        if (closed) return
        report('')
        tell({ type: 'listed', launches: machines.map(({ launch }) => launch), askedAt })
      },
      (error: Error) => {
        ended()
        if (!closed) report(error.message)
      },
    )
  }

  const timer = setInterval(ask, everyMs)
  return {
    ask,
    close() {
      closed = true
      clearInterval(timer)
    },
  }
}
