/** `plimsoll up --preset P --store dynamodb --endpoint URL`: the tables of each preset, written by a cluster. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Item, numberOf, textOf } from '../../../src/aws/dynamo/attributes.ts'
import { openDynamo, scan } from '../../../src/aws/dynamo/dynamo.ts'
import { startUp, type Up } from '../../support/up.ts'

const endpoint = process.env.PLIMSOLL_DYNAMODB ?? ''
const workloads = join(import.meta.dirname, '../../../workloads')

async function start(t: TestContext, preset: string, workload: string, prefix: string): Promise<Up> {
  const store = ['--store', `dynamodb://${prefix}?region=eu-central-1`, '--endpoint', endpoint]
  const scales = ['--time-scale', '30', '--work-scale', '1']
  const served = ['--workloads', join(workloads, `${workload}.ts`)]
  return startUp(t, '--preset', preset, ...scales, ...served, ...store)
}

async function answered(up: Up, path: string): Promise<void> {
  const response = await fetch(`${up.url}${path}`)
  assert.equal(response.status, 200, await response.text())
}

/** Waits until an item is as wanted. */
async function found(
  t: TestContext,
  prefix: string,
  table: string,
  isWanted: (item: Item) => boolean,
): Promise<Item> {
  const dynamo = await openDynamo({ prefix, region: 'eu-central-1', endpoint })
  t.after(() => dynamo.close())
  for (let tries = 0; ; tries++) {
    const items = (await Array.fromAsync(scan(dynamo, { TableName: `${prefix}-${table}` }))).flat()
    const item = items.find(isWanted)
    if (item) return item
    assert.ok(tries < 600, `no such item in ${table}: ${JSON.stringify(items)}`)
    await delay(50)
  }
}

test('CP-2 cloudprime: a factorized number has a complete item with its rank', async (t) => {
  const prefix = `up-${randomUUID()}`
  const up = await start(t, 'cloudprime', 'factorize', prefix)
  await answered(up, '/factorize?n=1234567')
  const item = await found(t, prefix, 'cloudprime', ({ running }) => running?.BOOL === false)
  assert.equal(textOf(item, 'parameter'), '1234567')
  assert.ok(numberOf(item, 'rank')! > 0 && numberOf(item, 'instructions')! > 0)
  assert.notEqual(textOf(item, 'instanceId'), '')
})

test('HC-3 hillclimbing: a request is completed, and its instance has no work left', async (t) => {
  const prefix = `up-${randomUUID()}`
  const up = await start(t, 'hillclimbing', 'hillclimb', prefix)
  await answered(up, '/hillclimb?strategy=BFS')
  const item = await found(t, prefix, 'HcRequest', ({ completed }) => completed?.BOOL === true)
  assert.ok(numberOf(item, 'work')! > 0)
  const instance = await found(t, prefix, 'HcInstance', (each) => numberOf(each, 'numCurrentRequests') === 0)
  assert.equal(numberOf(instance, 'work'), 0)
})

test('EW-7 ecowork: a workload has its table with four values and a slope', async (t) => {
  const prefix = `up-${randomUUID()}`
  const up = await start(t, 'ecowork', 'foxes-rabbits', prefix)
  await answered(up, '/foxes-rabbits?generations=20&world=1&scenario=1')
  const item = await found(t, prefix, 'ecowork-foxes-rabbits', () => true)
  assert.equal(textOf(item, 'key'), '1:1')
  assert.deepEqual([numberOf(item, 'minX'), numberOf(item, 'maxX')], [20, 20])
  assert.ok(numberOf(item, 'Metric')! > 0)
})

test('CN-3 cnv: another balancer with an empty data folder starts from the rows, and shows the kept job', async (t) => {
  const prefix = `up-${randomUUID()}`
  const first = await start(t, 'cnv', 'grayscott', prefix)
  await answered(first, '/grayscott?size=16&iterations=5')
  const kept = await fetch(`${first.url}/grayscott?size=24&iterations=5`, {
    method: 'POST',
    headers: { prefer: 'respond-async' },
  })
  assert.equal(kept.status, 202, await kept.clone().text())
  const { id } = (await kept.json()) as { id: string }
  await found(t, prefix, 'WORKLOAD_METRICS', (item) => textOf(item, 'parameters')?.includes('"24"') === true)
  await found(t, prefix, 'jobs', (item) => textOf(item, 'id') === id && textOf(item, 'state') === 'answered')
  first.process.kill('SIGKILL')
  const second = await start(t, 'cnv', 'grayscott', prefix)
  const quote = await fetch(`${second.url}/-/estimate/grayscott?size=16&iterations=5`)
  assert.equal(((await quote.json()) as { why: string }).why, 'measured cost of the same request')
  for (let status = 0; status !== 200; ) {
    // Its keeper starts with the first question, and waits for the lease.
    status = (await fetch(`${second.url}/-/jobs/${id}/result`)).status
    assert.ok([200, 503].includes(status), `${status}`)
  }
})
