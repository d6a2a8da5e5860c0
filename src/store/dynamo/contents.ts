/** Bodies and results: small ones in the item of their job, long ones in items of their own. */
import { randomUUID } from 'node:crypto'
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { bytesOf as bytesIn, toItem } from '../../aws/dynamo/attributes.ts'
import { query, writeItems } from '../../aws/dynamo/dynamo.ts'
import { StoreError } from '../../lib/errors.ts'
import { bytesOf, inChunks, takeIn } from '../content.ts'
import type { Content } from '../store.ts'
import { chunkKey, type JobsTable, looseKey } from './layout.ts'

/** Small contents as they are, long ones by the name of their items. */
export interface Place {
  bytes: Uint8Array | undefined
  content: string | undefined
  length: number
}

export const nowhere: Place = { bytes: undefined, content: undefined, length: 0 }

/** A write costs by the size of the whole item, and a job's is written several times. */
const inlineBytes = 16 * 1024
/** An item has at most 400 KB, with its keys and names. */
const chunkBytes = 384 * 1024

/** Reads the content to its end. A long one is written, and belongs to no job yet. Errors of the content are passed on. */
export async function place(jobs: JobsTable, epoch: number, content: Content): Promise<Place> {
  const taken = await takeIn(content, inlineBytes)
  // A view shares its memory with others, who may change it before it is written.
  if ('bytes' in taken)
    return { bytes: new Uint8Array(taken.bytes), content: undefined, length: taken.bytes.length }
  return writeChunks(jobs, epoch, taken.parts)
}

async function writeChunks(jobs: JobsTable, epoch: number, parts: AsyncIterable<Uint8Array>): Promise<Place> {
  const { dynamo, table } = jobs
  const content = randomUUID()
  const put = (item: ReturnType<typeof toItem>) =>
    dynamo.call('PutItem', table, (db) => db.putItem({ TableName: table, Item: item }))
  let [length, number] = [0, 0]
  try {
    // Marked as loose first: whatever happens, a later leader finds what is to be removed.
    await put({ ...looseKey(content), ...toItem({ epoch, content }) })
    for await (const bytes of inChunks(parts, chunkBytes)) {
      await put({ ...chunkKey(content, number++), ...toItem({ bytes }) })
      length += bytes.length
    }
    return { bytes: undefined, content, length }
  } catch (error) {
    await drop(jobs, { content })
    throw error
  }
}

/** Goes into the transaction that gives the content to a job. */
export function claim({ table }: JobsTable, { content }: Place): TransactWriteItem[] {
  return content === undefined ? [] : [{ Delete: { TableName: table, Key: looseKey(content) } }]
}

/** Goes into the transaction that takes the content from its job. */
export function loosen(
  { table }: JobsTable,
  epoch: number,
  content: string | undefined,
): TransactWriteItem[] {
  if (content === undefined) return []
  return [{ Put: { TableName: table, Item: { ...looseKey(content), ...toItem({ epoch, content }) } } }]
}

/** If it fails, a later leader removes the content. */
export async function drop(jobs: JobsTable, { content }: Pick<Place, 'content'>): Promise<void> {
  if (content !== undefined) await remove(jobs, content).catch(() => {})
}

/** Removes a loose content. */
export async function remove({ dynamo, table }: JobsTable, content: string): Promise<void> {
  const pages = query(dynamo, {
    TableName: table,
    KeyConditionExpression: 'pk = :content',
    ExpressionAttributeValues: { ':content': chunkKey(content, 0).pk! },
    ProjectionExpression: 'pk, sk',
    ConsistentRead: true,
  })
  for await (const keys of pages)
    await writeItems(
      dynamo,
      table,
      keys.map((Key) => ({ DeleteRequest: { Key } })),
    )
  await dynamo.call('DeleteItem', table, (db) => db.deleteItem({ TableName: table, Key: looseKey(content) }))
}

export function read(jobs: JobsTable, { bytes, content, length }: Place): AsyncIterable<Uint8Array> {
  return content === undefined ? bytesOf(bytes ?? new Uint8Array()) : readChunks(jobs, content, length)
}

async function* readChunks(
  { dynamo, table, store }: JobsTable,
  content: string,
  length: number,
): AsyncGenerator<Uint8Array> {
  for (let number = 0, left = length; left > 0; number++) {
    const { Item: item } = await dynamo.call('GetItem', table, (db) =>
      db.getItem({ TableName: table, Key: chunkKey(content, number), ConsistentRead: true }),
    )
    const bytes = item && bytesIn(item, 'bytes')
    if (!bytes) throw new StoreError(`${store}: a content was removed while it was read`)
    left -= bytes.length
    yield bytes
  }
}
