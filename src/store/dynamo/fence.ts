/**
 * Transactions that write only while their leader is the last one. Each checks the epoch in one of a few items, the fences, and
 * a new leader changes all of them: a transaction under way is then complete, and a later one finds another epoch. Two
 * transactions on the same fence would collide, so each writer has its own.
 */
import { randomUUID } from 'node:crypto'
import type { TransactionCanceledException, TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { numberOf, toAttribute, type Value } from '../../aws/dynamo/attributes.ts'
import { backOff } from '../../aws/dynamo/dynamo.ts'
import { DynamoError } from '../../aws/dynamo/explain-error.ts'
import { fenced } from '../rows.ts'
import { fenceKey, type JobsTable } from './layout.ts'

/** Transactions at a time that write jobs. */
export const writers = 3
/** The fence of sweeps. */
export const sweepFence = writers
export const fences = writers + 1

/** Items that are written together, or not at all. */
export type Group = readonly TransactWriteItem[]

/** DynamoDB allows 100 items and 4 MB in a transaction; one item is the fence. */
export const mostItems = 99
export const mostBytes = 3 * 2 ** 20

/**
 * Writes all groups whose conditions hold in one transaction. Resolves with whether each was written. Together the groups may
 * have at most `mostItems` items.
 */
export async function transact(
  jobs: JobsTable,
  fence: number,
  epoch: number,
  groups: readonly Group[],
): Promise<boolean[]> {
  const { dynamo, table } = jobs
  const refused = new Set<Group>()
  let token = randomUUID()
  for (let tries = 0; ; tries++) {
    const left = groups.filter((group) => !refused.has(group))
    if (left.length === 0) {
      await mustLead(jobs, epoch)
      return groups.map(() => false)
    }
    await backOff(tries, 'TransactWriteItems', table, dynamo)
    try {
      await dynamo.call('TransactWriteItems', table, (db) =>
        db.transactWriteItems({
          TransactItems: [checkOf(table, fence, epoch), ...left.flat()],
          ClientRequestToken: token,
        }),
      )
      return groups.map((group) => !refused.has(group))
    } catch (error) {
      // The transaction of the same token is still under way.
      if (error instanceof DynamoError && error.reason === 'TransactionInProgressException') continue
      const reasons = reasonsOf(error)
      if (!reasons) throw error
      if (reasons[0] === 'ConditionalCheckFailed') throw await fencedError(jobs, epoch)
      const before = refused.size
      let at = 1
      for (const group of left) {
        const own = reasons.slice(at, at + group.length)
        if (own.includes('ConditionalCheckFailed')) refused.add(group)
        at += group.length
      }
      if (refused.size > before) tries = -1
      token = randomUUID()
    }
  }
}

function checkOf(table: string, fence: number, epoch: number): TransactWriteItem {
  return {
    ConditionCheck: {
      TableName: table,
      Key: fenceKey(fence),
      ConditionExpression: 'epoch = :epoch',
      ExpressionAttributeValues: { ':epoch': toAttribute(epoch) },
    },
  }
}

/** Undefined: it was not cancelled for reasons that may pass or that name items. */
function reasonsOf(error: unknown): string[] | undefined {
  if (!(error instanceof DynamoError) || error.reason !== 'TransactionCanceledException') return undefined
  const reasons = (error.failure as TransactionCanceledException).CancellationReasons ?? []
  const codes = reasons.map(({ Code }) => Code ?? 'None')
  const isWrong = codes.some((code) => code === 'ValidationError' || code === 'AccessDenied')
  return isWrong || codes.length === 0 ? undefined : codes
}

/** Rejects if the epoch is not the last leader's. */
export async function mustLead(jobs: JobsTable, epoch: number): Promise<void> {
  if ((await epochOf(jobs)) !== epoch) throw await fencedError(jobs, epoch)
}

async function fencedError(jobs: JobsTable, epoch: number) {
  return fenced(jobs.store, epoch, await epochOf(jobs))
}

/** As the first fence has it. */
async function epochOf({ dynamo, table }: JobsTable): Promise<number> {
  const { Item } = await dynamo.call('GetItem', table, (db) =>
    db.getItem({ TableName: table, Key: fenceKey(0), ConsistentRead: true }),
  )
  return (Item && numberOf(Item, 'epoch')) ?? 0
}

/** An update that sets these attributes, and removes the ones that are null. */
export function setting(values: Readonly<Record<string, Value>>) {
  const names = Object.keys(values)
  const present = Object.entries(values).flatMap(([name, value], index) =>
    value === null || value === undefined ? [] : [{ name, value, index }],
  )
  const gone = names.flatMap((name, index) =>
    values[name] === null || values[name] === undefined ? [`#n${index}`] : [],
  )
  const sets = present.map(({ index }) => `#n${index} = :v${index}`)
  const clauses = [
    sets.length > 0 && `SET ${sets.join(', ')}`,
    gone.length > 0 && `REMOVE ${gone.join(', ')}`,
  ]
  return {
    UpdateExpression: clauses.filter(Boolean).join(' '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      present.map(({ value, index }) => [`:v${index}`, toAttribute(value)]),
    ),
  }
}
