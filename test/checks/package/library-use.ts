/** Programs of a user that start a cluster, ask it and simulate, in ESM and in CommonJS. */

const body = (workload: string, client: string) => `
const first: SchedulerFactory = ({ open, accepts }) => ({
  name: 'first',
  place(job) {
    const worker = open().find((each) => accepts(each, job))
    return worker ? { worker, reason: { code: 'first' } } : { reason: { code: 'full' } }
  },
})

async function main(): Promise<void> {
  await using cluster = await createCluster({ workloads: ${workload}, min: 1, max: 1, scheduler: first })
  await using client = ${client}
  const { result, status, work, job } = await client.request('typed', { n: 1000 })
  const error = await client.request('typed', { n: 13 }).catch((reason: unknown) => reason)
  const quote = await client.estimate('typed', { n: 10 })
  const { policies } = await compare({ policies: ['least-connections', { scheduler: first }], jobs: 500, seeds: 1 })
  const { jobs } = await simulate({ jobs: 500, scheduler: first, discipline: 'fifo' })
  console.log(
    JSON.stringify({
      ...{ result, status, jobs, metered: Number(work) > 1000, hasJob: job !== undefined, quoted: quote.work > 0 },
      error: error instanceof InvalidRequestError ? [error.status, error.code] : String(error),
      ...{ policy: cluster.state().policy, policies: policies.map(({ name }) => name) },
    }),
  )
}
`

/** What either program prints. */
export const libraryOutput = {
  ...{ result: { sum: 499500 }, status: 201, jobs: 500, metered: true, hasJob: true, quoted: true },
  ...{ error: [422, 'workload-error'], policy: 'first', policies: ['least-connections', 'first'] },
}

const names = 'compare, createClient, createCluster, InvalidRequestError, simulate'

const esm = `import { ${names}, type SchedulerFactory } from 'plimsoll'
import type typed from '../workloads/typed.ts'
${body("import.meta.resolve('../workloads/typed.ts')", 'createClient<typeof typed>(cluster)')}
export async function types(): Promise<void> {
  const client = createClient<typeof typed>('http://127.0.0.1:8080')
  const { result } = await client.request('typed', { n: 1 })
  const sum: number = result.sum
  // @ts-expect-error The sum is a number.
  const wrong: string = result.sum
  // @ts-expect-error No such workload.
  await client.request('typo', { n: 1 })
  // @ts-expect-error A number is expected.
  await client.request('typed', { n: '1' })
  console.log(sum, wrong)
}

await main()
`

const commonjs = `const { ${names} } = require('plimsoll') as Plimsoll
type Plimsoll = typeof import('plimsoll', { with: { 'resolution-mode': 'import' } })
type SchedulerFactory = import('plimsoll', { with: { 'resolution-mode': 'import' } }).SchedulerFactory
${body("require.resolve('../workloads/typed.cts')", 'createClient(cluster)')}
main()
`

export function libraryUse(type: 'module' | 'commonjs'): Record<string, string> {
  return type === 'module' ? { 'use/library.mts': esm } : { 'use/library.cts': commonjs }
}
