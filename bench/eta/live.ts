/** Live: how many kept jobs end inside the interval that they are given when they are accepted. */

import { setTimeout as delay } from 'node:timers/promises'
import { stream } from '../../src/lib/random.ts'
import { startUp, type Up } from '../../test/support/hostile/up.ts'

export interface LiveRun {
  /** Part of two cores. */
  load: number
  jobs: number
  warmup: number
}

export interface LiveInside {
  jobs: number
  inside: number
  early: number
  late: number
}

interface Job {
  endedAt?: string
  eta?: { earliest: string; latest: string }
}

/** CPU time of a job: exponential. */
const meanMs = 100
const cores = 2
const patienceMs = 300_000

export async function liveInside({ load, jobs, warmup }: LiveRun): Promise<LiveInside> {
  const up = await startUp({ flags: ['--min', '1', '--max', '1', '--queue', '4000', '--stop-after', '2'] })
  try {
    const random = stream(1, `eta ${load}`)
    const handedIn: Promise<string>[] = []
    for (let i = 0; i < warmup + jobs; i++) {
      await delay((random.exponential() * meanMs) / (load * cores))
      handedIn.push(handIn(up, i, Math.max(1, Math.round(random.exponential() * meanMs))))
    }
    const ids = await Promise.all(handedIn)
    await untilNoneIsOpen(up)
    const counts = { jobs: 0, inside: 0, early: 0, late: 0 }
    for (const id of ids.slice(warmup)) {
      const { endedAt, eta } = (await (await fetch(`${up.url}/-/jobs/${id}`)).json()) as Job
      if (endedAt === undefined || !eta) continue
      counts.jobs++
      if (endedAt < eta.earliest) counts.early++
      else if (endedAt > eta.latest) counts.late++
      else counts.inside++
    }
    return counts
  } finally {
    await up.stop()
  }
}

async function handIn(up: Up, number: number, ms: number): Promise<string> {
  const headers = { prefer: 'respond-async' }
  const answer = await fetch(`${up.url}/logged?id=${number}&ms=${ms}`, { method: 'POST', headers })
  const { id } = (await answer.json()) as { id?: string }
  if (answer.status !== 202 || id === undefined) throw new Error(`a job was not accepted: ${answer.status}`)
  return id
}

async function untilNoneIsOpen(up: Up): Promise<void> {
  const ends = performance.now() + patienceMs
  for (;;) {
    const { jobs } = (await (await fetch(`${up.url}/-/jobs?state=open&limit=1`)).json()) as { jobs: Job[] }
    if (jobs.length === 0) return
    if (performance.now() > ends) throw new Error('jobs are still open')
    await delay(200)
  }
}
