/** The job that every system stores: a request of a few hundred bytes. */
import { newKeptId } from '../../src/keeper/kept-id.ts'
import type { NewJob } from '../../src/store/store.ts'

const target = '/thumbnails?width=320&height=200'
const fields = [
  ['content-type', 'application/json'],
  ['user-agent', 'bench'],
  ['accept', '*/*'],
] as const
const quote = {
  work: 1_200_000,
  interval: [800_000, 2_100_000],
  seconds: { low: 0.1, expected: 0.2, high: 0.4 },
}
export const body = JSON.stringify({ image: 'https://images.example/'.padEnd(200, 'x') })
const bytes = Buffer.from(body)

export function newJob(): NewJob {
  return {
    id: newKeptId(Date.now()),
    ...{ workload: 'thumbnails', client: '127.0.0.1', acceptedAt: Date.now(), quote, isRepeatable: true },
    request: { method: 'POST', target, fields, body: bytes },
  }
}

/** The same content for queues that store JSON. */
export function newData(): object {
  return {
    ...{ workload: 'thumbnails', client: '127.0.0.1', acceptedAt: Date.now(), quote, isRepeatable: true },
    request: { method: 'POST', target, fields, body },
  }
}
