/** Writes jobs, their ends and notes, many of them in one transaction. */
import { type Item, numberOf, textOf, toAttribute, toItem } from '../../aws/dynamo/attributes.ts'
import { getItems } from '../../aws/dynamo/dynamo.ts'
import { StoreError } from '../../lib/errors.ts'
import type { Batches, Row } from '../batches.ts'
import { type AcceptedRow, type EndRow, idTaken, isSameJob, type JobRow } from '../rows.ts'
import type { Webhook } from '../store.ts'
import { claim, type Place } from './contents.ts'
import { type Group, setting, transact, writers } from './fence.ts'
import { idempotencyKey, type JobsTable, jobKey, keyOf, openKey, shardOf } from './layout.ts'
import type { Reads } from './reads.ts'

export type Accepted = { kind: 'accepted' } | { kind: 'repeated' | 'conflict'; row: JobRow }

export interface Writes {
  accept(epoch: number, row: AcceptedRow, body: Place): Promise<Accepted>
  /** Resolves with false if the job has ended before, or is unknown. */
  end(epoch: number, row: EndRow, result: Place): Promise<boolean>
  noteStarted(epoch: number, id: string, startedAt: number): Promise<void>
  noteWebhook(epoch: number, id: string, webhook: Webhook): Promise<void>
}

interface Job<R> extends Row {
  row: R
  place: Place
}

interface Note extends Row {
  group: Group
}

/** What a row takes besides its texts, roughly. */
const rowBytes = 1_000
/** Sequence numbers that a leader takes from the counter at a time. */
const blockSize = 1_000

export function writesOf(jobs: JobsTable, reads: Reads, batches: Batches): Writes {
  const free = Array.from({ length: writers }, (_, fence) => fence)
  const numbers = sequence(jobs)

  /** There are as many fences as statements at a time. */
  async function write(epoch: number, groups: readonly Group[]): Promise<boolean[]> {
    const fence = free.pop()!
    try {
      return await transact(jobs, fence, epoch, groups)
    } finally {
      free.push(fence)
    }
  }

  const accept = batches.lane<Job<AcceptedRow>, Accepted>(async (epoch, rows) => {
    const first = await numbers(epoch, rows.length)
    const groups = rows.map(({ row, place }, index) => acceptGroup(jobs, row, place, first + index))
    const written = await write(epoch, groups)
    return Promise.all(
      rows.map(({ row }, index) => (written[index] ? { kind: 'accepted' } : earlier(jobs.store, reads, row))),
    )
  })

  const end = batches.lane<Job<EndRow>, boolean>(async (epoch, rows) => {
    const items = await getItems(
      ...([jobs.dynamo, jobs.table, rows.map(({ row }) => jobKey(row.id)), neededToEnd] as const),
    )
    const found = new Map(items.map((item) => [textOf(item, 'id'), item]))
    const groups = rows.map(({ row, place }) => {
      const item = found.get(row.id)
      return item && textOf(item, 'state') === 'open' ? endGroup(jobs, item, row, place) : undefined
    })
    const open = groups.filter((group) => group !== undefined)
    const written = await write(epoch, open)
    return groups.map((group) => group !== undefined && written[open.indexOf(group)] === true)
  })

  const note = batches.lane<Note, void>(async (epoch, notes) => {
    await write(
      epoch,
      notes.map(({ group }) => group),
    )
    return notes.map(() => undefined)
  })

  return {
    accept(epoch, row, body) {
      const { id, client, idempotency_key: key } = row
      const names = key === null ? [id] : [id, JSON.stringify([client, key])]
      return accept({ epoch, names, bytes: sizeOf(row, body), row, place: body })
    },
    end: (epoch, row, result) =>
      end({ epoch, names: [row.id], bytes: sizeOf(row, result), row, place: result }),
    noteStarted: (epoch, id, startedAt) =>
      note({ epoch, names: [id], bytes: rowBytes, group: noteGroup(jobs, id, { started_at: startedAt }) }),
    noteWebhook: (epoch, id, { url, state, tries, dueAt, problem }) =>
      note({
        ...{ epoch, names: [id], bytes: rowBytes + (problem?.length ?? 0) },
        group: noteGroup(jobs, id, {
          ...{ webhook_url: url, webhook_state: state, webhook_tries: tries, webhook_due: dueAt ?? null },
          ...{ webhook_problem: problem ?? null, hook_shard: hookShard(id, state, dueAt) },
        }),
      }),
  }
}

function acceptGroup(jobs: JobsTable, row: AcceptedRow, place: Place, seq: number): Group {
  const { table: TableName } = jobs
  const { id, client, idempotency_key: key } = row
  const isNew = 'attribute_not_exists(pk)'
  const job = toItem({
    ...row,
    ...{ seq, list_shard: `${shardOf(id)}`, state: 'open', result_kept: 0, webhook_tries: 0 },
    ...{ body: place.bytes, body_content: place.content },
  })
  const keyed = key === null ? [] : [{ ...idempotencyKey(client, key), ...toItem({ id }) }]
  return [
    { Put: { TableName, Item: { ...jobKey(id), ...job }, ConditionExpression: isNew } },
    { Put: { TableName, Item: { ...openKey(id, seq), ...toItem({ id }) } } },
    ...keyed.map((Item) => ({ Put: { TableName, Item, ConditionExpression: isNew } })),
    ...claim(jobs, place),
  ]
}

const neededToEnd = ['id', 'seq', 'state', 'body_bytes', 'webhook_url', 'webhook_state']

function endGroup(jobs: JobsTable, job: Item, row: EndRow, place: Place): Group {
  const { table: TableName } = jobs
  const { id, ...columns } = row
  const hasWebhook = job.webhook_url !== undefined
  const update = setting({
    ...columns,
    ...{ result: place.bytes, result_content: place.content, result_kept: row.result_bytes === null ? 0 : 1 },
    ...{ kept_bytes: (numberOf(job, 'body_bytes') ?? 0) + (row.result_bytes ?? 0) },
    ended_shard: keptShard(id),
    ...(hasWebhook && { webhook_due: row.ended_at }),
    ...(hasWebhook && { hook_shard: hookShard(id, textOf(job, 'webhook_state'), row.ended_at) }),
  })
  return [
    { Update: { TableName, Key: jobKey(id), ...update, ...onlyIf(update, '#state = :open') } },
    { Delete: { TableName, Key: openKey(id, numberOf(job, 'seq')!) } },
    ...claim(jobs, place),
  ]
}

function onlyIf(update: ReturnType<typeof setting>, condition: string) {
  return {
    ConditionExpression: condition,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#state': 'state' },
    ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ':open': toAttribute('open') },
  }
}

function noteGroup({ table }: JobsTable, id: string, values: Parameters<typeof setting>[0]): Group {
  const condition = { ConditionExpression: 'attribute_exists(pk)' }
  return [{ Update: { TableName: table, Key: jobKey(id), ...setting(values), ...condition } }]
}

/** The entry of a job in the index of ends: while its contents are kept, and afterwards. */
export const keptShard = (id: string) => `kept#${shardOf(id)}`
export const endedShard = (id: string) => `ended#${shardOf(id)}`

function hookShard(id: string, state: string | undefined, due: number | undefined): string | null {
  return due !== undefined && (state === 'waiting' || state === 'disabled') ? `${state}#${shardOf(id)}` : null
}

/** Why a job was not added: it, or another one with its key or its id, is there already. */
async function earlier(store: string, reads: Reads, row: AcceptedRow): Promise<Accepted | StoreError> {
  const { id, client, idempotency_key: key } = row
  const byKey = key === null ? undefined : await reads.byKey(client, key)
  if (byKey && byKey.id !== id)
    return { kind: byKey.fingerprint === row.fingerprint ? 'repeated' : 'conflict', row: byKey }
  const byId = await reads.job(id)
  if (byId) return isSameJob(byId, row) ? { kind: 'accepted' } : idTaken(store, id)
  // It was swept between the two calls.
  return new StoreError(`${store}: job ${id} collided with one that was just removed. Try again`)
}

/** Numbers that grow with every job, also across leaders: each takes blocks from a counter in the table. */
function sequence({ dynamo, table }: JobsTable): (epoch: number, count: number) => Promise<number> {
  let block = { epoch: -1, next: 0, end: 0 }
  let taking: Promise<void> = Promise.resolve()

  async function take(epoch: number): Promise<void> {
    const { Attributes } = await dynamo.call('UpdateItem', table, (db) =>
      db.updateItem({
        ...{ TableName: table, Key: keyOf('counter'), UpdateExpression: 'ADD last_seq :block' },
        ...{ ExpressionAttributeValues: { ':block': toAttribute(blockSize) }, ReturnValues: 'UPDATED_NEW' },
      }),
    )
    const last = numberOf(Attributes ?? {}, 'last_seq')!
    block = { epoch, next: last - blockSize + 1, end: last }
  }

  return async (epoch, count) => {
    // One at a time, so that batches get their numbers in the order in which they begin.
    const turn = taking.then(async () => {
      if (block.epoch !== epoch || block.next + count - 1 > block.end) await take(epoch)
      block.next += count
      return block.next - count
    })
    taking = turn.then(
      () => {},
      () => {},
    )
    return turn
  }
}

function sizeOf(row: AcceptedRow | EndRow, { bytes }: Place): number {
  const texts = Object.values(row).map((value) => (typeof value === 'string' ? value.length : 0))
  return texts.reduce((sum, length) => sum + length, rowBytes) + (bytes?.length ?? 0)
}
