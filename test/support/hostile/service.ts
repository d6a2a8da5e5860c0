/** What clients of every kind know of the clusters that they ask. */

import type { Disturbances } from './disturbances.ts'

export interface Service {
  /** Where requests may be sent now. */
  urls(): readonly string[]
  /** True: nobody will answer any more. */
  isOver(): boolean
  /** When connections may have broken. */
  disturbances: Disturbances
}

export interface Answered {
  status: number
  text: string
}

/** Each request has a connection of its own. Rejects if there is no complete answer. */
export async function ask(url: string, init: RequestInit, patienceMs: number): Promise<Answered> {
  const headers = { ...(init.headers as Record<string, string>), connection: 'close' }
  const answer = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(patienceMs) })
  return { status: answer.status, text: await answer.text() }
}
