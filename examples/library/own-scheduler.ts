/** A scheduler of one's own, simulated and live: node examples/library/own-scheduler.ts */

import { compare, createClient, createCluster, type ScheduledWorker, type SchedulerFactory } from 'plimsoll'

/** Gives each job to the worker that will be idle soonest, if it starts there at once; other jobs wait, the shortest first. */
export const soonestIdle: SchedulerFactory = ({ open, accepts }) => ({
  name: 'soonest-idle',
  bySize: true,
  rank: (job) => job.expected,
  place(job) {
    const [best] = open()
      .filter((worker) => worker.running < worker.cores && accepts(worker, job))
      .sort((a, b) => secondsLeft(a) - secondsLeft(b))
    if (!best) return { reason: { code: 'busy', text: 'every core is busy' } }
    const text = `that worker will be idle in ${secondsLeft(best).toFixed(1)} s`
    return { worker: best, reason: { code: 'soonest', text } }
  },
  takes: (worker) =>
    worker.running < worker.cores
      ? { code: 'core-free', running: worker.running, cores: worker.cores }
      : undefined,
})

function secondsLeft({ jobs, cores, workPerSecond }: ScheduledWorker): number {
  const left = jobs.reduce((sum, { expected, done }) => sum + Math.max(0, expected - done), 0)
  return left / (cores * workPerSecond)
}

if (import.meta.main) {
  const { policies } = await compare({
    policies: ['least-connections:fifo', { scheduler: soonestIdle, discipline: 'fifo' }, 'srpt'],
    ...{ workers: 4, cores: 2, load: 0.8, jobs: 20_000, seeds: 1 },
  })
  for (const { name, meanSlowdown, shortP99Slowdown } of policies)
    console.log(
      `${name}: slowdown ${meanSlowdown.toFixed(2)}, p99 of short jobs ${shortP99Slowdown.toFixed(2)}`,
    )

  await using cluster = await createCluster({
    workloads: import.meta.resolve('./workloads/primes.ts'),
    ...{ max: 2, scheduler: soonestIdle, discipline: 'fifo' },
  })
  await using client = createClient(cluster)
  const answers = await Promise.all([500, 600, 700].map((n) => client.request('primes', { n })))
  console.log(`${answers.length} answers under ${cluster.state().policy}`)
}
