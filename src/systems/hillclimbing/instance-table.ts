/**
 * The table HcInstance: by instance the number of its requests and their outstanding work, which is the estimate less what
 * was done. Each change names the version that it was made from; if another process has changed the item, it is made again.
 */
import { type Item, numberOf, toAttribute, toItem } from '../../aws/dynamo/attributes.ts'
import { type Dynamo, ensureTable, getItems } from '../../aws/dynamo/dynamo.ts'
import { DynamoError } from '../../aws/dynamo/explain-error.ts'
import type { Instances, TableParts } from '../system-tables.ts'

interface Change {
  requests: number
  work: number
}

const mostTries = 20

interface Table {
  dynamo: Dynamo
  table: string
}

export async function instanceTable({ dynamo, prefix, queue }: TableParts): Promise<Instances> {
  const table = `${prefix}-HcInstance`
  await ensureTable(dynamo, {
    TableName: table,
    AttributeDefinitions: [{ AttributeName: 'instanceId', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'instanceId', KeyType: 'HASH' }],
  })
  /** Outstanding work by worker and attempt. */
  const workers = new Map<string, Map<string, number>>()

  const change = (worker: string, by: Change) => queue.add(worker, () => apply({ dynamo, table }, worker, by))

  return {
    began(worker, attempt, work) {
      const attempts = workers.get(worker) ?? new Map<string, number>()
      workers.set(worker, attempts.set(attempt, work))
      change(worker, { requests: 1, work })
    },
    progressed(worker, attempt, done, estimate) {
      const attempts = workers.get(worker)
      const left = attempts?.get(attempt)
      if (attempts === undefined || left === undefined) return
      const now = Math.max(0, estimate - done)
      if (now >= left) return
      attempts.set(attempt, now)
      change(worker, { requests: 0, work: now - left })
    },
    ended(worker, attempt) {
      const left = workers.get(worker)?.get(attempt)
      if (left === undefined) return
      workers.get(worker)?.delete(attempt)
      change(worker, { requests: -1, work: -left })
    },
    gone(worker) {
      workers.delete(worker)
      queue.add(worker, async () => {
        await dynamo.call('DeleteItem', table, (db) =>
          db.deleteItem({ TableName: table, Key: keyOf(worker) }),
        )
      })
    },
  }
}

const keyOf = (worker: string) => toItem({ instanceId: worker })

async function apply({ dynamo, table }: Table, worker: string, { requests, work }: Change): Promise<void> {
  for (let tries = 1; ; tries++) {
    const [found = {}] = await getItems(dynamo, table, [keyOf(worker)])
    const version = numberOf(found, 'version') ?? 0
    const item = {
      ...keyOf(worker),
      ...toItem({
        numCurrentRequests: Math.max(0, (numberOf(found, 'numCurrentRequests') ?? 0) + requests),
        work: Math.max(0, (numberOf(found, 'work') ?? 0) + work),
        version: version + 1,
      }),
    }
    if (await put({ dynamo, table }, item, version)) return
    if (tries === mostTries) throw new Error(`${table}: ${worker} is changed by others again and again`)
  }
}

/** False: another process has changed the item. */
async function put({ dynamo, table }: Table, item: Item, version: number): Promise<boolean> {
  const condition =
    version === 0
      ? { ConditionExpression: 'attribute_not_exists(instanceId)' }
      : {
          ConditionExpression: '#version = :version',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': toAttribute(version) },
        }
  try {
    await dynamo.call('PutItem', table, (db) => db.putItem({ TableName: table, Item: item, ...condition }))
    return true
  } catch (error) {
    if (error instanceof DynamoError && error.reason === 'ConditionalCheckFailedException') return false
    throw error
  }
}
