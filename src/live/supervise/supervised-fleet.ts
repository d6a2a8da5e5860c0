/** The fleet of a brain that a supervisor started: its workers are children of the supervisor, so they outlive the brain. */

import type { Listed, Provider, ProviderEvents } from '../../model/provider.ts'
import { type LocalFleetOptions, workerStart } from '../fleet/local.ts'
import type { ToBrain } from './messages.ts'
import type { SupervisorLink } from './supervisor-link.ts'

export function supervisedFleet(
  link: Pick<SupervisorLink, 'send' | 'onMessage'>,
  options: LocalFleetOptions,
  events: ProviderEvents,
): Provider {
  const closed = Promise.withResolvers<void>()
  /** Lists that were asked for. */
  const asked = new Map<number, (workers: readonly Listed[]) => void>()
  let asks = 0
  let isClosing = false

  link.onMessage((message: ToBrain) => {
    switch (message.type) {
      case 'launch-failed':
        return events.launchFailed(message.launch, message.message, message.output)
      case 'worker-gone':
        return events.gone(message.launch, message.message)
      case 'workers':
        asked.get(message.ask)?.(message.workers)
        asked.delete(message.ask)
        return
      case 'workers-closed':
        return closed.resolve()
    }
  })

  return {
    launch(launch) {
      if (!isClosing) link.send({ type: 'launch', launch, start: workerStart(options, launch) })
    },
    joined: (launch) => link.send({ type: 'worker-joined', launch }),
    list: () =>
      new Promise((resolve) => {
        asked.set(++asks, resolve)
        link.send({ type: 'list-workers', ask: asks })
      }),
    terminate: (launch, graceMs = 0) => link.send({ type: 'terminate', launch, graceMs }),
    async close() {
      isClosing = true
      const { graceMs } = options
      link.send({ type: 'close-workers', ...(graceMs !== undefined && { graceMs }) })
      await closed.promise
    },
  }
}
