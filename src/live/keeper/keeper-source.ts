/** What the brain knows of the keeper of its cluster, for fronts of other machines. */

import type { KeeperPlace } from '../../wire/kept.ts'
import type { ToBrain } from '../supervise/messages.ts'
import type { SupervisorLink } from '../supervise/supervisor-link.ts'

export interface KeeperSource {
  /** Undefined: there is none now. */
  place(): KeeperPlace | undefined
  /** Asks for a keeper. */
  want(): void
  /** Calls back whenever the place has changed. */
  onChange(then: () => void): void
}

/** The keeper that the supervisor runs. */
export function supervisedKeeper(link: SupervisorLink): KeeperSource {
  let place: KeeperPlace | undefined
  let changed = () => {}
  link.onMessage((message: ToBrain) => {
    if (message.type !== 'keeper') return
    place = message.place
    changed()
  })
  return {
    place: () => place,
    want: () => link.send({ type: 'want-keeper' }),
    onChange(then) {
      changed = then
    },
  }
}
