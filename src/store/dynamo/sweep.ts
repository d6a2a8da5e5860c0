/** Removes what is not to be kept, a few jobs in a transaction. */
import type { TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { type Item, numberOf, textOf, toAttribute } from '../../aws/dynamo/attributes.ts'
import type { Retention } from '../store.ts'
import { loosen, remove } from './contents.ts'
import { type Group, mostItems, mustLead, setting, sweepFence, transact } from './fence.ts'
import { byEnd, eachShard, idempotencyKey, type JobsTable, jobKey, keyOf } from './layout.ts'
import { items, merged } from './reads.ts'
import { endedShard } from './writes.ts'

interface Sweep {
  epoch: number
  now: number
  retention: Retention
}

/** Of a job whose contents are to be removed: itself and two contents. */
const groupItems = 3
const stepRows = Math.floor(mostItems / groupItems)

/** Resolves with the number of removed results. */
export async function sweep(jobs: JobsTable, asked: Sweep): Promise<number> {
  await mustLead(jobs, asked.epoch)
  await dropAbandoned(jobs, asked.epoch)
  const removed = await removeResults(jobs, asked)
  await forget(jobs, asked)
  return removed
}

/** Long contents that earlier leaders wrote for jobs that were then not accepted or answered: those are fenced off. */
async function dropAbandoned(jobs: JobsTable, epoch: number): Promise<void> {
  for (const shard of eachShard((each) => each)) {
    const loose = items(jobs, {
      KeyConditionExpression: 'pk = :shard',
      FilterExpression: 'epoch < :epoch',
      ExpressionAttributeValues: { ':shard': keyOf(`loose#${shard}`).pk!, ':epoch': toAttribute(epoch) },
      ConsistentRead: true,
    })
    for await (const item of loose) await remove(jobs, textOf(item, 'content')!)
  }
}

async function removeResults(jobs: JobsTable, { epoch, now, retention }: Sweep): Promise<number> {
  const { keepMs, keepBytes } = retention
  const streams = eachShard((shard) => ended(jobs, `kept#${shard}`, false))
  let [bytes, removed] = [0, 0]
  const step = async (batch: readonly Item[]) => {
    const groups = batch.map((item) => removeGroup(jobs, epoch, item))
    const written = await transact(jobs, sweepFence, epoch, groups)
    const done = batch.filter((_, index) => written[index])
    removed += done.filter((item) => numberOf(item, 'result_kept') === 1).length
    for (const content of done.flatMap(contentsOf)) await remove(jobs, content)
  }
  const newestFirst = merged(
    streams,
    (a, b) =>
      numberOf(b, 'ended_at')! - numberOf(a, 'ended_at')! || numberOf(b, 'seq')! - numberOf(a, 'seq')!,
  )
  await inSteps(newestFirst, step, (item) => {
    bytes += numberOf(item, 'kept_bytes') ?? 0
    return bytes > keepBytes || numberOf(item, 'ended_at')! < now - keepMs
  })
  return removed
}

async function forget(jobs: JobsTable, { epoch, now, retention }: Sweep): Promise<void> {
  const before = now - retention.rememberMs
  if (before === -Infinity) return
  for (const shard of eachShard((each) => each)) {
    await inSteps(
      ended(jobs, `ended#${shard}`, true, before),
      async (batch) => {
        await transact(
          jobs,
          ...([sweepFence, epoch] as const),
          batch.map((item) => forgetGroup(jobs, item)),
        )
      },
      (item) => textOf(item, 'webhook_state') !== 'waiting',
    )
  }
}

async function inSteps(
  from: AsyncGenerator<Item>,
  step: (batch: readonly Item[]) => Promise<void>,
  isDue: (item: Item) => boolean,
): Promise<void> {
  let batch: Item[] = []
  for await (const item of from) {
    if (!isDue(item)) continue
    batch.push(item)
    if (batch.length < stepRows) continue
    await step(batch)
    batch = []
  }
  if (batch.length > 0) await step(batch)
}

/** Entries of jobs that have ended, by the index. */
function ended(jobs: JobsTable, shard: string, isForward: boolean, before?: number): AsyncGenerator<Item> {
  return items(jobs, {
    IndexName: byEnd,
    KeyConditionExpression:
      before === undefined ? 'ended_shard = :shard' : 'ended_shard = :shard AND ended_at < :before',
    ExpressionAttributeValues: {
      ':shard': toAttribute(shard),
      ...(before !== undefined && { ':before': toAttribute(before) }),
    },
    ScanIndexForward: isForward,
  })
}

function contentsOf(item: Item): string[] {
  return [textOf(item, 'body_content'), textOf(item, 'result_content')].filter((each) => each !== undefined)
}

/** Its long contents are loose from then on, so that none is forgotten if this process ends. */
function removeGroup(jobs: JobsTable, epoch: number, item: Item): Group {
  const id = textOf(item, 'id')!
  const update = setting({
    ...{ result_kept: 0, ended_shard: endedShard(id), kept_bytes: null, answer_fields: null },
    ...{ body: null, result: null, body_content: null, result_content: null },
  })
  const job: TransactWriteItem = {
    Update: {
      ...{ TableName: jobs.table, Key: jobKey(id), ...update },
      ConditionExpression: 'attribute_exists(kept_bytes)',
    },
  }
  return [job, ...contentsOf(item).flatMap((content) => loosen(jobs, epoch, content))]
}

/** A job whose webhook still waits is not forgotten: its delivery is tried again. */
function forgetGroup({ table: TableName }: JobsTable, item: Item): Group {
  const id = textOf(item, 'id')!
  const [client, key] = [textOf(item, 'client') ?? '', textOf(item, 'idempotency_key')]
  const condition = {
    ConditionExpression:
      'attribute_not_exists(kept_bytes) AND (attribute_not_exists(webhook_state) OR webhook_state <> :waiting)',
    ExpressionAttributeValues: { ':waiting': toAttribute('waiting') },
  }
  const job: TransactWriteItem = { Delete: { TableName, Key: jobKey(id), ...condition } }
  return key === undefined ? [job] : [job, { Delete: { TableName, Key: idempotencyKey(client, key) } }]
}
