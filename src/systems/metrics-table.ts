/**
 * A table with one item for each request: intermediate metrics by their first owner only, and complete items never
 * overwritten. The conditions of its writes are `mayWrite` of the ledger.
 */
import { createHash } from 'node:crypto'
import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { type Item, textOf, toAttribute, toItem, type Value } from '../aws/dynamo/attributes.ts'
import { type Dynamo, ensureTable, getItems, scan } from '../aws/dynamo/dynamo.ts'
import { DynamoError } from '../aws/dynamo/explain-error.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { isOwnedBy, type MetricsRow, type OwnerFilter, storedKey } from '../ledger/metrics.ts'
import type { TableParts } from './system-tables.ts'

export interface MetricsLayout {
  table: string
  /** The attribute that identifies requests. */
  id: string
  idOf(row: Pick<MetricsRow, 'parameters'>): string
  /** The document's columns. */
  columns(row: MetricsRow): Readonly<Record<string, Value>>
}

type Methods = Pick<Ledger, 'recordMetrics' | 'releaseMetrics' | 'metricsFor' | 'recentMetrics'>

/** Longer ids are replaced by their hash: a key has at most 2,048 bytes. */
const longestId = 500

export async function metricsTable(parts: TableParts, layout: MetricsLayout): Promise<Methods> {
  const { dynamo, prefix, ledger, queue } = parts
  const table = `${prefix}-${layout.table}`
  await ensureTable(dynamo, {
    TableName: table,
    AttributeDefinitions: [layout.id, 'code'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: layout.id, KeyType: 'HASH' },
      { AttributeName: 'code', KeyType: 'RANGE' },
    ],
  })
  /** Running rows that this process has written, by the text of their key. */
  const running = new Map<string, MetricsRow>()

  const { keyOf, put, release, releaseAll } = writesOf(dynamo, table, layout)
  return {
    recordMetrics(row) {
      ledger.recordMetrics(row)
      const name = JSON.stringify(keyOf(row))
      if (row.running) running.set(name, row)
      else running.delete(name)
      queue.add(name, () => put(row))
    },
    releaseMetrics(owner) {
      ledger.releaseMetrics(owner)
      // Attempts of an earlier run of this cluster have ended.
      if (owner.worker === undefined && owner.attempt === undefined)
        return queue.add('', () => releaseAll(owner))
      for (const [name, row] of running) {
        if (!isOwnedBy(row, owner)) continue
        running.delete(name)
        queue.add(name, () => release(row))
      }
    },
    async metricsFor(key) {
      const found = await ledger.metricsFor(key)
      if (found && !found.running) return found
      const [item] = await getItems(dynamo, table, [keyOf(key)])
      const row = item && rowIn(item)[0]
      return row?.parameters === storedKey(key).parameters ? row : found
    },
    async recentMetrics({ workload, limit }) {
      const rows: MetricsRow[] = []
      for await (const page of scan(dynamo, { TableName: table, ConsistentRead: true }))
        rows.push(...page.flatMap(rowIn).filter((row) => row.workload === workload))
      return rows.sort((a, b) => b.at - a.at).slice(0, limit)
    },
  }
}

/** Writes of items, under the conditions of the ledger. */
function writesOf(dynamo: Dynamo, table: string, layout: MetricsLayout) {
  const begun = Date.now()
  const keyOf = ({
    workload,
    codeHash,
    parameters,
  }: Pick<MetricsRow, 'workload' | 'codeHash' | 'parameters'>) =>
    toItem({ [layout.id]: bounded(layout.idOf({ parameters })), code: `${workload} ${codeHash}` })

  async function put(row: MetricsRow): Promise<void> {
    const item = { ...itemOf(layout.columns(row), row), ...keyOf(row) }
    const none = 'attribute_not_exists(code)'
    await unlessRefused(
      dynamo.call('PutItem', table, (db) =>
        db.putItem({
          TableName: table,
          Item: item,
          ExpressionAttributeNames: { '#running': 'isRunning', ...(row.running && { '#owner': 'rowOwner' }) },
          ConditionExpression: row.running
            ? `${none} OR (#running = :true AND (#owner = :none OR #owner = :me))`
            : `${none} OR #running = :true`,
          ExpressionAttributeValues: {
            ':true': { BOOL: true },
            ...(row.running && { ':none': toAttribute(''), ':me': toAttribute(ownerOf(row)) }),
          },
        }),
      ),
    )
  }

  /** Another attempt may write it from then on. */
  async function release(row: MetricsRow): Promise<void> {
    const free = { ...row, worker: '', attempt: '' }
    const changed = itemOf(layout.columns(free), free)
    const names = Object.keys(changed).filter((name) => ![layout.id, 'rowOwner', 'isRunning'].includes(name))
    const update: Omit<UpdateItemCommandInput, 'TableName' | 'Key'> = {
      UpdateExpression: `SET rowOwner = :none, ${names.map((_, index) => `#n${index} = :v${index}`).join(', ')}`,
      ConditionExpression: 'isRunning = :true AND rowOwner = :me',
      ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
      ExpressionAttributeValues: {
        ...{ ':none': toAttribute(''), ':true': { BOOL: true }, ':me': toAttribute(ownerOf(row)) },
        ...Object.fromEntries(names.map((name, index) => [`:v${index}`, changed[name]!])),
      },
    }
    await unlessRefused(
      dynamo.call('UpdateItem', table, (db) =>
        db.updateItem({ TableName: table, Key: keyOf(row), ...update }),
      ),
    )
  }

  /** Of rows that were written before this process began. */
  async function releaseAll(owner: OwnerFilter): Promise<void> {
    for await (const page of scan(dynamo, { TableName: table, ConsistentRead: true }))
      for (const row of page.flatMap(rowIn)) if (row.at < begun && isOwnedBy(row, owner)) await release(row)
  }

  return { keyOf, put, release, releaseAll }
}

/** Besides the document's columns: what decides who may write the item, and the row as the ledger has it. */
function itemOf(columns: Readonly<Record<string, Value>>, row: MetricsRow): Item {
  const stored = { ...row, ...storedKey(row) }
  return toItem({
    ...columns,
    ...{ isRunning: row.running, rowOwner: ownerOf(row), row: JSON.stringify(stored) },
  })
}

function rowIn(item: Item): MetricsRow[] {
  try {
    return [JSON.parse(textOf(item, 'row') ?? '') as MetricsRow]
  } catch {
    return []
  }
}

function ownerOf({ worker, attempt }: MetricsRow): string {
  return worker === '' ? '' : `${worker} ${attempt}`
}

function bounded(id: string): string {
  if (id === '') return '-'
  return id.length <= longestId ? id : createHash('sha256').update(id).digest('hex')
}

async function unlessRefused(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!(error instanceof DynamoError) || error.reason !== 'ConditionalCheckFailedException') throw error
  }
}
