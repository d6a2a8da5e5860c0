/**
 * One table holds everything; its keys are `pk` and `sk`:
 *
 * - `job#ID`: a job with its small contents, as columns of `JobRow`
 * - `open#SHARD`, sequence number: a job without an end. Written with its job, so that reading them all is consistent
 * - `key#HASH`: the job that a client's idempotency key names
 * - `content#ID`, number: a part of a long content
 * - `loose#SHARD`, content: a long content that belongs to no job (yet), with the epoch of its writer
 * - `leader`, `fence#NUMBER`, `counter`, `secret`, `version`: one item each
 *
 * Indexes follow the table within a second or so. What they find is looked up in the table again.
 */
import { createHash } from 'node:crypto'
import type { CreateTableCommandInput, GlobalSecondaryIndex } from '@aws-sdk/client-dynamodb'
import type { Item } from '../../aws/dynamo/attributes.ts'
import type { Dynamo } from '../../aws/dynamo/dynamo.ts'

export interface JobsTable {
  dynamo: Dynamo
  table: string
  /** The name of the store in errors. */
  store: string
}

/** A partition takes about a thousand writes a second; what is written in order is spread over this many. */
export const shards = 8

/** Jobs by sequence number, by their ends, and by the times at which their webhooks are due. */
export const byOrder = 'by-order'
export const byEnd = 'by-end'
export const byDue = 'by-due'

export function keyOf(pk: string, sk: string | number = 0): Item {
  return { pk: { S: pk }, sk: { S: typeof sk === 'number' ? String(sk).padStart(16, '0') : sk } }
}

export const jobKey = (id: string) => keyOf(`job#${id}`)
export const fenceKey = (fence: number) => keyOf(`fence#${fence}`)
export const openKey = (id: string, seq: number) => keyOf(`open#${shardOf(id)}`, seq)
export const chunkKey = (content: string, number: number) => keyOf(`content#${content}`, number)
export const looseKey = (content: string) => keyOf(`loose#${shardOf(content)}`, content)

export function idempotencyKey(client: string, key: string): Item {
  return keyOf(
    `key#${createHash('sha256')
      .update(JSON.stringify([client, key]))
      .digest('base64url')}`,
  )
}

/** The same for the same id. */
export function shardOf(id: string): number {
  return createHash('sha256').update(id).digest()[0]! % shards
}

export function eachShard<T>(make: (shard: number) => T): T[] {
  return Array.from({ length: shards }, (_, shard) => make(shard))
}

function index(name: string, hash: string, range: string, others: string[]): GlobalSecondaryIndex {
  return {
    IndexName: name,
    KeySchema: [
      { AttributeName: hash, KeyType: 'HASH' },
      { AttributeName: range, KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: others },
  }
}

const texts = ['pk', 'sk', 'list_shard', 'ended_shard', 'hook_shard']
const numbers = ['seq', 'ended_at', 'webhook_due']

export function definition(table: string) {
  return {
    TableName: table,
    AttributeDefinitions: [
      ...texts.map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const })),
      ...numbers.map((AttributeName) => ({ AttributeName, AttributeType: 'N' as const })),
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    GlobalSecondaryIndexes: [
      index(byOrder, 'list_shard', 'seq', ['id', 'state', 'workload', 'client']),
      index(byEnd, 'ended_shard', 'ended_at', [
        ...['id', 'seq', 'kept_bytes', 'webhook_state', 'result_kept', 'body_content', 'result_content'],
        ...['client', 'idempotency_key'],
      ]),
      index(byDue, 'hook_shard', 'webhook_due', ['id', 'seq']),
    ],
  } satisfies Omit<CreateTableCommandInput, 'BillingMode'>
}
