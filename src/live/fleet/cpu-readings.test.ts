import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricQuery } from '../../aws/cloudwatch/cpu-metrics.ts'
import type { Event } from '../../model/event.ts'
import { readCpuOf } from './cpu-readings.ts'

const launches: Record<string, string> = { w1: '5-1', w2: '5-2', manual: '' }
const machines: Record<string, string> = { '5-1': 'i-1', spare: 'i-2' }

function reader(data: (queries: readonly MetricQuery[]) => { id: string; values: number[] }[]) {
  const told: Event[] = []
  const log: string[] = []
  const asked: string[][] = []
  const read = readCpuOf({
    machines: {
      machineOf: (launch) => machines[launch],
      cloudWatch: {
        async cpu(queries) {
          asked.push(queries.map(({ instance }) => instance))
          return data(queries)
        },
        close() {},
      },
    },
    // The worker of launch 5-2 was a spare.
    fleet: { startedAs: (launch) => (launch === '5-2' ? 'spare' : launch) },
    workers: () => Object.keys(launches).map((id) => ({ id })),
    launchOf: (worker) => launches[worker] || undefined,
    tell: (event) => told.push(event),
    log: (line) => log.push(line),
  })!
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return { told, log, asked, read, turn }
}

test('the instances of all workers are asked for, and those with data are told', async () => {
  const { told, asked, read, turn } = reader(([first]) => [{ id: first!.id, values: [25] }])
  read()
  read()
  await turn()
  assert.deepEqual(asked, [['i-1', 'i-2']])
  assert.deepEqual(told, [{ type: 'cpu-read', shares: [{ worker: 'w1', share: 0.25 }] }])
})

test('without data nothing is told', async () => {
  const { told, read, turn } = reader(() => [])
  read()
  await turn()
  assert.deepEqual(told, [])
})

test('a failure is logged once, until a reading succeeds', async () => {
  let isBroken = true
  const { log, read, turn } = reader(() => {
    if (isBroken) throw new Error('denied')
    return []
  })
  for (const broken of [true, true, false, true]) {
    isBroken = broken
    read()
    await turn()
  }
  assert.deepEqual(log, ['fleet: no CPU figures: denied', 'fleet: no CPU figures: denied'])
})

test('without CloudWatch, nothing is read', () => {
  const parts = { workers: () => [], launchOf: () => undefined, tell() {}, log() {} }
  const none = { machineOf: () => undefined, cloudWatch: undefined }
  assert.equal(readCpuOf({ ...parts, machines: none, fleet: { startedAs: (it) => it } }), undefined)
})
