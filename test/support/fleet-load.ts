/** Load and scalers for tests of a live fleet. */

import { join } from 'node:path'
import type { Scaler } from '../../src/brain/scale/scaler.ts'
import type { Live } from './live.ts'

export const naps = join(import.meta.dirname, '..', 'fixtures', 'naps.ts')

/** For steps that take a second on an idle machine, and much longer on a busy one. */
export const patienceMs = 60_000

export interface Load {
  sent: number
  /** Answers that were wrong, or took more than one attempt. */
  troubles: string[]
}

/** Sends one request, which must be answered correctly at its first attempt. */
export async function nap(live: Live, load: Load, ms: number): Promise<void> {
  load.sent++
  try {
    const answer = await fetch(`${live.url}/nap?ms=${ms}`)
    const text = await answer.text()
    const attempts = answer.headers.get('plimsoll-attempts')
    if (answer.status !== 200 || text !== `${ms}` || attempts !== '1')
      load.troubles.push(`${answer.status}, ${attempts} attempts: ${text}`)
  } catch (error) {
    load.troubles.push((error as Error).message)
  }
}

/** Scales to `target`. */
export function steered(): Scaler & { target: number } {
  const scaler: Scaler & { target: number } = {
    name: 'steered',
    target: 1,
    everyMs: 100,
    decide({ ready, booting }) {
      const reason = { code: ready + booting < scaler.target ? 'test-grows' : 'test-shrinks' }
      return ready + booting === scaler.target
        ? { kind: 'hold', reason }
        : { kind: 'scale', to: scaler.target, reason }
    },
  }
  return scaler
}

/** One worker for every two jobs present, now or within the last `holdMs`. */
export function perTwoJobs(jobs: () => number, min: number, max: number, holdMs: number): Scaler {
  const seen: { at: number; jobs: number }[] = []
  return {
    name: 'per-two-jobs',
    everyMs: 200,
    decide({ ready, booting }, now) {
      seen.push({ at: now, jobs: jobs() })
      while (seen[0]!.at < now - holdMs) seen.shift()
      const present = Math.max(...seen.map((one) => one.jobs))
      const to = Math.min(max, Math.max(min, Math.ceil(present / 2)))
      const reason = { code: 'per-two-jobs', jobs: present, to }
      return to === ready + booting ? { kind: 'hold', reason } : { kind: 'scale', to, reason }
    },
  }
}
