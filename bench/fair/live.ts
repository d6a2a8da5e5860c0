/** The effect of one client's flood on another client's response times, on a real cluster. */

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stream } from '../../src/lib/random.ts'
import { lognormal } from '../../src/simulate/sizes.ts'
import { quantile } from '../../src/simulate/summary.ts'
import { withCluster } from '../cluster.ts'

const workers = 2
const workload = join(import.meta.dirname, '../workloads/spin.ts')
/** The flood's concurrent jobs, and the CPU time of each. */
const [floodJobs, floodMs] = [20, 2000]

/** The p99 of the modest client's response times in milliseconds: `jobs` requests of about 30 ms, at a fifth of the cores. */
export function liveP99(flooded: boolean, jobs: number): Promise<number> {
  const options = { min: workers, max: workers, meter: 'off', fair: true } as const
  const log = (line: string) => console.error(line)
  return withCluster({ files: [workload], ...options, clientBy: 'header:x-client', log }, async (cluster) => {
    const ask = async (client: string, ms: number) => {
      const answer = await fetch(`${cluster.url}/spin?ms=${ms}`, { headers: { 'x-client': client } })
      if (!answer.ok) throw new Error(`${client}: ${answer.status} ${await answer.text()}`)
      await answer.arrayBuffer()
    }
    const sizes = lognormal(Math.log(30), 1)
    const random = stream(1, 'modest')
    // The estimator needs examples of both clients' jobs.
    for (let i = 0; i < 40; i++) await ask('modest', sizes.draw(random))
    for (let i = 0; i < 3; i++) await ask('flood', floodMs)
    let flooding = flooded
    const flood = async () => {
      while (flooding) await ask('flood', floodMs)
    }
    const floods = Array.from({ length: flooded ? floodJobs : 0 }, flood)
    if (flooded) await delay(floodMs)
    const responses: Promise<number>[] = []
    for (let i = 0; i < jobs; i++) {
      await delay((random.exponential() * sizes.meanSeconds) / (0.2 * workers))
      const sent = performance.now()
      responses.push(ask('modest', sizes.draw(random)).then(() => performance.now() - sent))
    }
    const measured = (await Promise.all(responses)).toSorted((a, b) => a - b)
    flooding = false
    await Promise.all(floods)
    return quantile(measured, 0.99)
  })
}
