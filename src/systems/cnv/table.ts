/** CNV's table WORKLOAD_METRICS in DynamoDB: an item for each request, by type and hash of its parameters. */
import { type Item, textOf, toAttribute, toItem } from '../../aws/dynamo/attributes.ts'
import { type Dynamo, ensureTable, query } from '../../aws/dynamo/dynamo.ts'
import { DynamoError } from '../../aws/dynamo/explain-error.ts'
import type { LedgerRow } from '../../ledger/ledger.ts'
import type { SystemTables, TableParts } from '../system-tables.ts'
import { type CnvRow, cnvRow, types } from './rows.ts'

export async function cnvTable({ dynamo, prefix, ledger, queue, log }: TableParts): Promise<SystemTables> {
  const table = `${prefix}-WORKLOAD_METRICS`
  await ensureTable(dynamo, {
    TableName: table,
    AttributeDefinitions: ['type', 'sortKey'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
    KeySchema: [
      { AttributeName: 'type', KeyType: 'HASH' },
      { AttributeName: 'sortKey', KeyType: 'RANGE' },
    ],
  })
  /** By workload: up to when its rows were read. */
  const readUntil = new Map<string, string>()

  async function put(made: CnvRow, row: LedgerRow): Promise<void> {
    try {
      await dynamo.call('PutItem', table, (db) =>
        db.putItem({
          ...{ TableName: table, Item: itemOf(made, row) },
          // Of equal requests, the newest counts.
          ConditionExpression: 'attribute_not_exists(endTime) OR endTime <= :endTime',
          ExpressionAttributeValues: { ':endTime': toAttribute(made.endTime) },
        }),
      )
    } catch (error) {
      if (!(error instanceof DynamoError) || error.reason !== 'ConditionalCheckFailedException') throw error
    }
  }

  /** What other processes have written is copied to the ledger, which ignores rows that it has. */
  async function copyNewRows(workload: string): Promise<void> {
    const after = readUntil.get(workload)
    let [rows, newest] = [0, after ?? '']
    for await (const row of rowsOf(dynamo, table, workload, after)) {
      const endTime = new Date(row.endedAt).toISOString()
      if (endTime > newest) newest = endTime
      ledger.record(row)
      rows++
    }
    if (newest !== '') readUntil.set(workload, newest)
    if (rows === 0) return
    await ledger.flush()
    if (after === undefined) log(`tables: ${rows} rows of ${workload} read from ${table}`)
  }

  return {
    ledger: {
      record(row) {
        ledger.record(row)
        const made = documented(row)
        if (made) queue.add(`${made.type} ${made.sortKey}`, () => put(made, row))
      },
      async warm(asked) {
        await queue.flush()
        await copyNewRows(asked.workload)
        return ledger.warm(asked)
      },
      async recent(asked) {
        if (asked.key !== undefined || asked.codeHash !== undefined || !types[asked.workload])
          return ledger.recent(asked)
        const rows = await Array.fromAsync(rowsOf(dynamo, table, asked.workload, undefined))
        return rows.sort((a, b) => b.endedAt - a.endedAt).slice(0, asked.limit)
      },
    },
  }
}

/** After the given time, or all. */
async function* rowsOf(
  dynamo: Dynamo,
  table: string,
  workload: string,
  after: string | undefined,
): AsyncGenerator<LedgerRow> {
  const type = types[workload]
  if (!type) return
  const pages = query(dynamo, {
    ...{ TableName: table, KeyConditionExpression: '#type = :type', ConsistentRead: true },
    ExpressionAttributeNames: { '#type': 'type' },
    ...(after !== undefined && { FilterExpression: 'endTime > :after' }),
    ExpressionAttributeValues: {
      ':type': toAttribute(type),
      ...(after !== undefined && { ':after': toAttribute(after) }),
    },
  })
  for await (const page of pages) yield* page.flatMap((item) => rowIn(item) ?? [])
}

/** Undefined: the document has no such row; `parameters` may be any text. */
function documented(row: LedgerRow): CnvRow | undefined {
  try {
    return cnvRow(row)
  } catch {
    return undefined
  }
}

/** Besides the document's attributes: the row as the ledger has it. */
function itemOf({ parameters, metrics, ...others }: CnvRow, row: LedgerRow): Item {
  const amounts = toItem({ ...metrics })
  return {
    ...toItem({ ...others, parameters: JSON.stringify(parameters), row: JSON.stringify(row) }),
    metrics: { M: amounts },
  }
}

function rowIn(item: Item): LedgerRow | undefined {
  try {
    return JSON.parse(textOf(item, 'row') ?? '') as LedgerRow
  } catch {
    return undefined
  }
}
