/** How many jobs of a real cluster end within the interval that they were given when they were accepted. */

import { setTimeout as wait } from 'node:timers/promises'
import type { JobDocument } from '../../src/keeper/documents.ts'
import { startFresh } from '../cold/fresh-cluster.ts'
import { type Calibration, drawArrivals } from '../cold/jobs.ts'
import { poolOf } from '../live/play.ts'
import { forCluster } from '../live/wording.ts'
import { Coverage } from './coverage.ts'

export interface LiveRun {
  load: number
  /** At most; it may be that fewer arrive. */
  jobs: number
  seconds: number
}

const patienceMs = 300_000

/** Hands jobs in at their times, whatever became of earlier ones, and reads when they ended. */
export async function liveCoverage(
  { load, jobs: most, seconds }: LiveRun,
  calibration: Calibration,
  signal: AbortSignal,
): Promise<Coverage> {
  const jobs = drawArrivals({ seed: 1, seconds, load }, calibration).slice(0, most)
  const cluster = await startFresh([])
  const pool = poolOf(cluster.url)
  try {
    const began = performance.now()
    const ids: Promise<string>[] = []
    for (const [i, job] of jobs.entries()) {
      const waitMs = began + job.atMs - performance.now()
      if (waitMs > 0) await wait(waitMs, undefined, { signal })
      const worded = forCluster(job, `eta-${i}`)
      const headers = { ...(worded.headers as object), prefer: 'respond-async' }
      ids.push(
        pool.request({ ...worded, headers, method: 'POST', signal }).then(async ({ statusCode, body }) => {
          const text = await body.text()
          if (statusCode !== 202) throw new Error(`${job.workload}: ${statusCode} ${text.slice(0, 300)}`)
          return (JSON.parse(text) as JobDocument).id
        }),
      )
    }
    const coverage = new Coverage()
    const ends = performance.now() + patienceMs
    for (const id of await Promise.all(ids)) {
      let job = await documentOf(pool, id, signal)
      while (job.endedAt === undefined) {
        if (performance.now() > ends) throw new Error(`job ${id} has not ended: it is ${job.state}`)
        await wait(200, undefined, { signal })
        job = await documentOf(pool, id, signal)
      }
      // Given while no worker was ready: nothing.
      if ((job.quote as { ends?: unknown } | null)?.ends)
        coverage.add(job.quote, (Date.parse(job.endedAt) - Date.parse(job.acceptedAt)) / 1000)
    }
    return coverage
  } finally {
    await pool.destroy()
    await cluster.stop()
  }
}

async function documentOf(
  pool: ReturnType<typeof poolOf>,
  id: string,
  signal: AbortSignal,
): Promise<JobDocument> {
  const { body } = await pool.request({ method: 'GET', path: `/-/jobs/${id}`, signal })
  return (await body.json()) as JobDocument
}
