/** Direct links: CPU time of a job that does nothing, in front, worker and slot, by the number of jobs in flight. */

import { fileURLToPath } from 'node:url'
import { table } from '../src/cli/terminal/table.ts'
import { startLoneWorker } from '../src/cli/testing/lone-worker.ts'
import type { DirectAnswer } from '../src/front/direct/direct-answer.ts'
import { WorkerLink } from '../src/front/direct/worker-link.ts'
import { thousandths } from '../src/lib/quantities.ts'
import { cpuMs } from '../src/worker/processes/proc.ts'
import type { BenchOptions } from './options.ts'

const file = fileURLToPath(new URL('./workloads/pid.ts', import.meta.url))
const job = { workload: 'pid', params: Buffer.from('{}'), job: '0mhx3k2p9-0123456789abcdef' }

interface Run {
  inFlight: number
  perSecond: number
  frontUs: number
  workerUs: number
  slotUs: number
  givenBack: number
}

export async function direct({ quick }: BenchOptions): Promise<Record<string, unknown>> {
  const worker = await startLoneWorker([file])
  const { hello, attemptToken: token } = worker
  const link = new WorkerLink({ id: 'w', address: hello.address, token, log: console.error })
  try {
    const jobs = quick ? 20_000 : 200_000
    await drive(link, jobs / 4, 64)
    const slot = await slotOf(link)
    const runs: Run[] = []
    for (const inFlight of [1, 8, 64, 256]) {
      const count = Math.round(jobs * Math.min(1, inFlight / 64))
      runs.push(await measure(link, count, inFlight, { worker: hello.pid, slot }))
    }
    console.log('CPU time of a job that does nothing over a direct link; one slot\n')
    console.log(
      table(
        ['in flight', 'jobs/s', 'front µs', 'worker µs', 'slot µs', 'given back'],
        runs.map((run) => [
          ...[`${run.inFlight}`, run.perSecond.toFixed(0), run.frontUs.toFixed(1)],
          ...[run.workerUs.toFixed(1), run.slotUs.toFixed(1), `${run.givenBack}`],
        ]),
      ),
    )
    const full = runs.find(({ inFlight }) => inFlight === 64)!
    return {
      direct_front_us: thousandths(full.frontUs),
      direct_worker_us: thousandths(full.workerUs),
      direct_slot_us: thousandths(full.slotUs),
      direct_per_second: Math.round(full.perSecond),
    }
  } finally {
    link.close()
    await worker.close()
  }
}

async function measure(
  link: WorkerLink,
  count: number,
  inFlight: number,
  pids: { worker: number; slot: number },
): Promise<Run> {
  const read = () => [process.pid, pids.worker, pids.slot].map((pid) => cpuMs(pid) ?? 0)
  const startedAt = performance.now()
  const before = read()
  const givenBack = await drive(link, count, inFlight)
  const [frontUs, workerUs, slotUs] = read().map((ms, i) => ((ms - before[i]!) * 1000) / count)
  const perSecond = (count / (performance.now() - startedAt)) * 1000
  return { inFlight, perSecond, frontUs: frontUs!, workerUs: workerUs!, slotUs: slotUs!, givenBack }
}

/** Keeps this number of jobs in flight until all are answered. Resolves to the number that were given back. */
function drive(link: WorkerLink, count: number, inFlight: number): Promise<number> {
  return new Promise((resolve) => {
    let sent = 0
    let answered = 0
    let givenBack = 0
    const done = ({ outcome }: DirectAnswer) => {
      if (outcome !== 'result') givenBack++
      if (++answered === count) return resolve(givenBack)
      if (sent < count) send()
    }
    const send = () => {
      sent++
      link.call(job, done)
    }
    for (let i = 0; i < Math.min(inFlight, count); i++) send()
  })
}

async function slotOf(link: WorkerLink): Promise<number> {
  for (;;) {
    const answer = await new Promise<DirectAnswer>((resolve) => void link.call(job, resolve))
    if (answer.outcome === 'result') return (JSON.parse(answer.body.toString()) as { pid: number }).pid
  }
}
