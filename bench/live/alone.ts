/** Measures each job alone on a core: two workers, each pinned to a core, run one job at a time. */
import { spawnSync } from 'node:child_process'
import { median, quantile } from '../../src/simulate/summary.ts'
import { headers } from '../../src/wire/messages.ts'
import { startBareWorkers } from './bare-workers.ts'
import type { LiveJob, SizedJob } from './jobs.ts'
import { workOff } from './play.ts'
import { forWorker } from './wording.ts'

/** Shorter jobs are noisier, so the median of several runs counts. */
const longMs = 100
const times = 3

interface Seen {
  cpuMs: number[]
  work: number
}

export interface Measured extends SizedJob {
  /** Metered. */
  work: number
  /** The part of the size that is not CPU time of the slot. */
  besidesMs: number
}

/**
 * A job's size is the CPU time of its slot, over all threads, plus the rest of its response time, for which the 10th
 * percentile over short jobs is used. Such sizes hardly depend on the other load of the machine. Rejects if a job fails.
 */
export async function measureAlone(
  jobs: readonly LiveJob[],
  data: string,
  signal: AbortSignal,
): Promise<Measured[]> {
  const isPinned = spawnSync('taskset', ['-c', '0,1', 'true']).status === 0
  const { token, workers, stop, failed } = await startBareWorkers(data, (worker) =>
    isPinned ? ['taskset', '-c', `${worker}`] : [],
  )
  const seen = new Map<LiveJob, Seen>(jobs.map((job) => [job, { cpuMs: [], work: 0 }]))
  const besidesMs: number[] = []
  // Jobs of a worker that has ended would all be refused: its output says why it ended.
  const over = new AbortController()
  const options = {
    wording: forWorker(token),
    lanes: 1,
    signal: AbortSignal.any([signal, failed, over.signal]),
  }
  const note = (job: LiveJob, { responseMs, error, headers: fields }: Parameters<Done>[1]) => {
    if (error !== undefined) {
      over.abort(new Error(`a job failed: ${job.workload} ${JSON.stringify(job.params)}: ${error}`))
      return
    }
    const entry = seen.get(job)!
    const cpuMs = Number(fields[headers.cpuMs])
    entry.cpuMs.push(cpuMs)
    entry.work = Number(fields[headers.work])
    if (cpuMs < longMs) besidesMs.push(responseMs - cpuMs)
  }
  /** Every job with its repetitions; one queue for all workers. */
  function* rounds(): Generator<LiveJob> {
    for (let round = 0; round < times; round++) {
      for (const job of jobs) if (round === 0 || seen.get(job)!.cpuMs[0]! < longMs) yield job
    }
  }
  try {
    // The first jobs include JIT compilation, so they are measured again.
    const first = jobs.slice(0, 60)
    await Promise.all(workers.map(({ host, port }) => workOff(`http://${host}:${port}`, first, options)))
    const todo = rounds()
    await Promise.all(workers.map(({ host, port }) => workOff(`http://${host}:${port}`, todo, options, note)))
  } finally {
    await stop()
  }
  const leastMs = quantile(
    besidesMs.sort((a, b) => a - b),
    0.1,
  )
  return jobs.map((job) => {
    const { cpuMs, work } = seen.get(job)!
    return { ...job, sizeMs: median(cpuMs) + leastMs, work, besidesMs: leastMs }
  })
}

type Done = NonNullable<Parameters<typeof workOff>[3]>
