/** What the tables of the published systems promise, on any server that speaks DynamoDB's protocol. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Item } from '../../aws/dynamo/attributes.ts'
import { openDynamo, scan } from '../../aws/dynamo/dynamo.ts'
import type { LedgerRow } from '../../ledger/ledger.ts'
import { memoryLedger } from '../../ledger/testing/memory-ledger.ts'
import { sampleMetrics, sampleRow, sampleSnapshot } from '../../ledger/testing/samples.ts'
import type { EstimatorName } from '../estimators.ts'
import { rowViews } from '../rows.ts'
import { openTables } from '../tables.ts'

/** Balancers with ledgers of their own and the same tables. */
async function balancers(t: TestContext, endpoint: string, rule: EstimatorName, count: number) {
  const location = { prefix: `test-${randomUUID()}`, region: 'eu-central-1', endpoint }
  const problems: string[] = []
  const opened = []
  for (let index = 0; index < count; index++) {
    const local = memoryLedger()
    const tables = await openTables(rule, location, local, (line) => problems.push(line))
    t.after(() => tables.close())
    opened.push(tables)
  }
  const dynamo = await openDynamo(location)
  t.after(() => dynamo.close())
  const items = async (table: string): Promise<Item[]> =>
    (await Array.fromAsync(scan(dynamo, { TableName: `${location.prefix}-${table}` }))).flat()
  return { opened, items, problems }
}

/** Without what is kept besides the document's columns. */
function columnsOf(item: Item | undefined): Record<string, unknown> {
  const { row: _, rowOwner: __, isRunning: ___, code: ____, ...columns } = item ?? {}
  return Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, value.S ?? value.BOOL ?? Number(value.N)]),
  )
}

function cloudprime(name: string, endpoint: () => string): void {
  const tally = JSON.stringify({ blocks: 1, fieldLoads: 2, instructions: 3, stackLoads: 4 })

  test(`${name}: CP-2 an item for each number has the metrics, the rank, and who writes it while it runs`, async (t) => {
    const { opened, items, problems } = await balancers(t, endpoint(), 'rank-memo', 1)
    const { ledger } = opened[0]!
    ledger.recordMetrics(sampleMetrics({ tally }))
    await ledger.flush()
    const metrics = { basicBlocks: 1, fieldLoads: 2, instructions: 3, stackLoads: 4, rank: 100.5 }
    const owned = { running: true, instanceId: 'worker-1', threadId: 'job-1/1' }
    assert.deepEqual((await items('cloudprime')).map(columnsOf), [{ parameter: '15', ...metrics, ...owned }])
    ledger.releaseMetrics({ worker: 'worker-1' })
    await ledger.flush()
    const [free] = (await items('cloudprime')).map(columnsOf)
    assert.deepEqual([free?.running, free?.instanceId, free?.threadId], [true, '', ''])
    assert.deepEqual(problems, [])
  })

  test(`${name}: CP-2 only the first owner writes an item while it runs, and nobody a complete one`, async (t) => {
    const { opened } = await balancers(t, endpoint(), 'rank-memo', 2)
    const [one, two] = [opened[0]!.ledger, opened[1]!.ledger]
    const rankAfter = async (ledger: typeof one, work: number, changes: object) => {
      ledger.recordMetrics(sampleMetrics({ work, ...changes }))
      await ledger.flush()
      return (await rowViews.cloudprime!(ledger, 'factorize', 9)).map((row) => (row as { rank: number }).rank)
    }
    assert.deepEqual(await rankAfter(one, 1, {}), [1])
    assert.deepEqual(await rankAfter(two, 2, { worker: 'worker-2' }), [1], 'another owner')
    assert.deepEqual(await rankAfter(one, 3, {}), [3])
    assert.deepEqual(await rankAfter(two, 4, { worker: 'worker-2', running: false }), [4], 'any final result')
    assert.deepEqual(await rankAfter(one, 5, { running: false }), [4])
    assert.deepEqual(await rankAfter(one, 6, {}), [4])
    assert.deepEqual((await rankAfter(one, 7, { codeHash: 'code-2' })).toSorted(), [4, 7], 'other code')
  })

  test(`${name}: CP-2 a balancer that starts releases the items of attempts before it, and no others`, async (t) => {
    const { opened, items } = await balancers(t, endpoint(), 'rank-memo', 1)
    const { ledger } = opened[0]!
    ledger.recordMetrics(sampleMetrics())
    ledger.recordMetrics(sampleMetrics({ parameters: '{"n":"21"}', at: Date.now() + 60_000 }))
    await ledger.flush()
    ledger.releaseMetrics({})
    await ledger.flush()
    const owners = (await items('cloudprime')).map(columnsOf).map((row) => [row.parameter, row.instanceId])
    assert.deepEqual(owners.toSorted(), [
      ['15', ''],
      ['21', 'worker-1'],
    ])
  })

  test(`${name}: CP-2 a balancer finds what another one has measured`, async (t) => {
    const { opened } = await balancers(t, endpoint(), 'rank-memo', 2)
    const key = { workload: 'factorize', codeHash: 'code-1', parameters: '{"n":"15"}' }
    opened[0]!.ledger.recordMetrics(sampleMetrics({ work: 9, running: false }))
    await opened[0]!.ledger.flush()
    assert.equal((await opened[1]!.ledger.metricsFor(key))?.work, 9)
    assert.equal(await opened[1]!.ledger.metricsFor({ ...key, codeHash: 'code-2' }), undefined)
  })
}

function cnv(name: string, endpoint: () => string): void {
  const row = (number: number, changes: Partial<LedgerRow> = {}) =>
    sampleRow(number, {
      ...{ workload: 'grayscott', quantities: JSON.stringify({ instCount: 274, totalAccesses: 62 }) },
      ...{ key: '{"size":"16"}', parameters: '{"size":"16"}', ...changes },
    })

  test(`${name}: CN-3 WORKLOAD_METRICS has type, hash, id, parameters, metrics and times`, async (t) => {
    const { opened, items, problems } = await balancers(t, endpoint(), 'log-polynomial', 1)
    const { ledger } = opened[0]!
    for (const each of [row(2), row(1), row(3, { workload: 'shop' }), row(4, { parameters: 'no JSON' })])
      ledger.record(each)
    await ledger.flush()
    const [item, ...others] = await items('WORKLOAD_METRICS')
    assert.deepEqual(others, [])
    const { metrics, id, sortKey, ...texts } = item!
    assert.deepEqual(metrics?.M, { instCount: { N: '274' }, totalAccesses: { N: '62' } })
    assert.match(id?.S ?? '', /^[0-9a-f]{8}-/)
    assert.match(sortKey?.S ?? '', /^[0-9a-f]{64}$/)
    assert.deepEqual(columnsOf(texts), {
      ...{ type: 'GRAYSCOTT', parameters: '{"size":"16"}' },
      ...{ startTime: '2023-11-14T22:13:20.002Z', endTime: '2023-11-14T22:13:20.022Z' },
    })
    assert.equal((await rowViews.cnv!(ledger, 'grayscott', 9)).length, 1)
    assert.deepEqual(problems, [])
  })

  test(`${name}: CN-3 a balancer warms its cache and retrains from rows that others have written`, async (t) => {
    const { opened } = await balancers(t, endpoint(), 'log-polynomial', 2)
    const [one, two] = [opened[0]!.ledger, opened[1]!.ledger]
    const works = async () => (await two.warm({ workload: 'grayscott' })).map(({ work }) => work)
    one.record(row(1, { work: 11 }))
    await one.flush()
    assert.deepEqual(await works(), [11])
    one.record(row(2, { work: 12, parameters: '{"size":"32"}' }))
    await one.flush()
    assert.deepEqual(await works(), [11, 12])
  })
}

function hillclimbing(name: string, endpoint: () => string): void {
  const asked = { workload: 'hillclimb', parameters: JSON.stringify({ map: 'm', width: 2, strategy: 'BFS' }) }

  test(`${name}: HC-4 HcRequest has all parameters, the metrics and whether it is completed`, async (t) => {
    const { opened, items } = await balancers(t, endpoint(), 'similar-requests', 1)
    const { ledger } = opened[0]!
    ledger.recordMetrics(sampleMetrics(asked))
    await ledger.flush()
    const [item] = (await items('HcRequest')).map(columnsOf)
    assert.deepEqual(item, {
      ...{ requestId: 'm_2________BFS', map: 'm', width: 2, strategy: 'BFS', work: 100.5, completed: false },
      metrics: '{"instructions":80,"blocks":7}',
    })
    ledger.recordMetrics(sampleMetrics({ ...asked, running: false, work: 200 }))
    await ledger.flush()
    const [done] = (await items('HcRequest')).map(columnsOf)
    assert.deepEqual([done?.work, done?.completed], [200, true])
  })

  test(`${name}: HC-9 HcInstance has the outstanding work, which falls as work is done`, async (t) => {
    const { opened, items, problems } = await balancers(t, endpoint(), 'similar-requests', 2)
    const stored = async () => {
      for (const { ledger } of opened) await ledger.flush()
      return (await items('HcInstance'))
        .map(columnsOf)
        .map(({ instanceId, numCurrentRequests, work }) => [instanceId, numCurrentRequests, work])
    }
    const [one, two] = [opened[0]!.instances!, opened[1]!.instances!]
    for (let job = 0; job < 5; job++) {
      one.began('i-1', `a${job}`, 100)
      two.began('i-1', `b${job}`, 1_000)
    }
    assert.deepEqual(await stored(), [['i-1', 10, 5_500]], 'no change of two balancers at once is lost')
    one.progressed('i-1', 'a0', 30, 100)
    one.progressed('i-1', 'a0', 130, 100)
    two.progressed('i-1', 'b0', 400, 1_000)
    one.progressed('i-1', 'unknown', 1, 2)
    assert.deepEqual(await stored(), [['i-1', 10, 5_000]])
    one.ended('i-1', 'a0')
    two.ended('i-1', 'b0')
    two.ended('i-1', 'b0')
    assert.deepEqual(await stored(), [['i-1', 8, 4_400]])
    one.gone('i-1')
    assert.deepEqual(await stored(), [])
    assert.deepEqual(problems, [])
  })
}

function ecowork(name: string, endpoint: () => string): void {
  const slopes = (minX: number, maxX: number) =>
    sampleSnapshot({
      ...{ workload: 'insect-war', name: 'slopes' },
      json: JSON.stringify([{ key: '<=2', minX, minWork: minX * 10, maxX, maxWork: maxX * 10, metric: 10 }]),
    })

  test(`${name}: EW-7 a table for each workload has four values and the slope by key`, async (t) => {
    const { opened, items, problems } = await balancers(t, endpoint(), 'slopes', 2)
    const [one, two] = [opened[0]!.ledger, opened[1]!.ledger]
    one.saveSnapshot(slopes(2, 5))
    await one.flush()
    const { at: _, ...columns } = columnsOf((await items('ecowork-insect-war'))[0])
    assert.deepEqual(columns, { key: '<=2', minX: 2, minWork: 20, maxX: 5, maxWork: 50, Metric: 10 })
    assert.deepEqual(await items('ecowork-compress'), [])
    assert.deepEqual(await rowViews.ecowork!(two, 'insect-war', 9), JSON.parse(slopes(2, 5).json))
    assert.deepEqual(problems, [])
  })

  test(`${name}: EW-7 an item is widened only, also by two balancers`, async (t) => {
    const { opened } = await balancers(t, endpoint(), 'slopes', 2)
    const [one, two] = [opened[0]!.ledger, opened[1]!.ledger]
    const ends = async (ledger: typeof one) =>
      (await rowViews.ecowork!(ledger, 'insect-war', 9)).map((row) => {
        const { minX, maxX } = row as { minX: number; maxX: number }
        return [minX, maxX]
      })
    one.saveSnapshot(slopes(2, 5))
    await one.flush()
    two.saveSnapshot(slopes(3, 9))
    await two.flush()
    assert.deepEqual(await ends(two), [[2, 5]], 'it does not hold what is stored')
    two.saveSnapshot(slopes(2, 9))
    await two.flush()
    assert.deepEqual(await ends(one), [[2, 9]])
  })
}

export function tablesContract(name: string, endpoint: () => string): void {
  cloudprime(name, endpoint)
  cnv(name, endpoint)
  hillclimbing(name, endpoint)
  ecowork(name, endpoint)
}
