/**
 * EcoWork's tables in DynamoDB, one for each workload: by key the smallest and largest size seen, the work of each, and the
 * slope, its `Metric`. Several processes may widen an item: one that was changed meanwhile is read again before the next
 * update writes it.
 */
import { type Item, numberOf, textOf, toAttribute, toItem } from '../../aws/dynamo/attributes.ts'
import { ensureTable, scan } from '../../aws/dynamo/dynamo.ts'
import { DynamoError } from '../../aws/dynamo/explain-error.ts'
import type { Snapshot } from '../../ledger/snapshots.ts'
import type { SystemTables, TableParts } from '../system-tables.ts'
import { ecowork } from './preset.ts'
import { slopesName } from './slope-store.ts'
import type { SlopeRow } from './slope-table.ts'

const unscaled = { ms: (ms: number) => ms, work: (units: number) => units }

export async function ecoworkTables({ dynamo, prefix, ledger, queue }: TableParts): Promise<SystemTables> {
  const tableOf = (workload: string) => `${prefix}-ecowork-${workload}`
  const workloads = ecowork(unscaled).workloads ?? []
  for (const workload of workloads)
    await ensureTable(dynamo, {
      TableName: tableOf(workload),
      AttributeDefinitions: ['key', 'code'].map((name) => ({ AttributeName: name, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: 'key', KeyType: 'HASH' },
        { AttributeName: 'code', KeyType: 'RANGE' },
      ],
    })
  /** Items as they were read or written last. */
  const known = new Map<string, string>()

  async function put(table: string, code: string, row: SlopeRow, at: number): Promise<void> {
    try {
      await dynamo.call('PutItem', table, (db) =>
        db.putItem({
          ...{ TableName: table, Item: itemOf(row, code, at) },
          ConditionExpression: 'attribute_not_exists(code) OR (minX >= :minX AND maxX <= :maxX)',
          ExpressionAttributeValues: { ':minX': toAttribute(row.minX), ':maxX': toAttribute(row.maxX) },
        }),
      )
    } catch (error) {
      if (!(error instanceof DynamoError) || error.reason !== 'ConditionalCheckFailedException') throw error
    }
  }

  return {
    ledger: {
      saveSnapshot(snapshot) {
        ledger.saveSnapshot(snapshot)
        const { workload, codeHash, name, json, at } = snapshot
        if (name !== slopesName || !workloads.includes(workload)) return
        for (const row of JSON.parse(json) as SlopeRow[]) {
          const id = idOf(workload, codeHash, row.key)
          const text = JSON.stringify(row)
          if (known.get(id) === text) continue
          known.set(id, text)
          queue.add(id, () => put(tableOf(workload), codeHash, row, at))
        }
      },
      async snapshots(workload) {
        const stored = await ledger.snapshots(workload)
        if (!workloads.includes(workload)) return stored
        const found = new Map<string, { rows: SlopeRow[]; at: number }>()
        for await (const page of scan(dynamo, { TableName: tableOf(workload), ConsistentRead: true }))
          for (const item of page) {
            const [row, code] = [rowIn(item), textOf(item, 'code') ?? '']
            known.set(idOf(workload, code, row.key), JSON.stringify(row))
            const { rows, at } = found.get(code) ?? { rows: [], at: 0 }
            found.set(code, { rows: [...rows, row], at: Math.max(at, numberOf(item, 'at') ?? 0) })
          }
        const tables = [...found].map(
          ([codeHash, { rows, at }]): Snapshot => ({
            ...{ workload, codeHash, name: slopesName, at },
            json: JSON.stringify(rows),
          }),
        )
        const others = stored.filter(({ name, codeHash }) => name !== slopesName || !found.has(codeHash))
        return [...tables, ...others].sort((a, b) => b.at - a.at)
      },
    },
  }
}

function idOf(workload: string, code: string, key: string): string {
  return `${workload} ${code} ${key}`
}

function itemOf({ metric, ...row }: SlopeRow, code: string, at: number): Item {
  return toItem({ ...row, code, at, Metric: metric })
}

function rowIn(item: Item): SlopeRow {
  const number = (name: string) => numberOf(item, name) ?? Number.NaN
  return {
    key: textOf(item, 'key') ?? '',
    ...{ minX: number('minX'), minWork: number('minWork'), maxX: number('maxX'), maxWork: number('maxWork') },
    metric: number('Metric'),
  }
}
