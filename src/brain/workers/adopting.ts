/** Launches of an earlier brain, whose workers go on and are expected to join this one. */

import type { Event } from '../../model/event.ts'
import type { Core } from '../core.ts'
import { setTimer } from '../timers.ts'
import { bootLimitMs } from './launching.ts'

/** Time allowed for a worker that had joined the earlier brain to reconnect. */
const rejoinMs = 10_000

/** They count as launches until their workers join, so that no further workers are launched in their place. */
export function adoptLaunches(core: Core, { launches }: Extract<Event, { type: 'adopted' }>): void {
  for (const { launch: id, joined } of launches) {
    if (core.launches.has(id)) continue
    const limitMs = joined ? Math.min(rejoinMs, core.limits.bootMs) : bootLimitMs(core)
    const timer = setTimer(core, { kind: 'launch', id }, core.now + limitMs)
    core.launches.set(id, { id, at: core.now, timer, adopted: true })
    // Workers are named by the number of their launch, so numbers must not repeat.
    core.seqs.launch = Math.max(core.seqs.launch, numberOf(id))
  }
}

/** True: workers of an earlier brain have yet to join, so it is not known what they run. */
export function isAdopting({ launches }: Core): boolean {
  for (const { adopted } of launches.values()) if (adopted) return true
  return false
}

function numberOf(launch: string): number {
  const number = Number(launch.split('-').at(-1))
  return Number.isSafeInteger(number) ? number : 0
}
