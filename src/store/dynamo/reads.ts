/** Reads jobs and pages. */
import type { QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { bytesOf, fromItem, type Item, numberOf, textOf, toAttribute } from '../../aws/dynamo/attributes.ts'
import { getItems, query } from '../../aws/dynamo/dynamo.ts'
import { type JobRow, jobColumns } from '../rows.ts'
import type { JobQuery } from '../store.ts'
import type { Place } from './contents.ts'
import { byDue, byOrder, eachShard, idempotencyKey, type JobsTable, jobKey, keyOf } from './layout.ts'

const columns = ['seq', ...jobColumns] as const
const pageRows = 100

export function rowOf(item: Item): JobRow {
  const row = fromItem(item, columns)
  return { ...row, result_kept: row.result_kept ?? 0, webhook_tries: row.webhook_tries ?? 0 } as JobRow
}

export function readsOf(jobs: JobsTable) {
  const { dynamo, table } = jobs

  async function item(key: Item, names?: readonly string[]): Promise<Item | undefined> {
    return (await getItems(dynamo, table, [key], names))[0]
  }

  async function job(id: string): Promise<JobRow | undefined> {
    const found = await item(jobKey(id), columns)
    return found && rowOf(found)
  }

  /** In the order of the ids, without jobs that are gone. */
  async function rows(ids: readonly string[]): Promise<JobRow[]> {
    const items = await getItems(dynamo, table, ids.map(jobKey), columns)
    const found = new Map(items.map((each) => [textOf(each, 'id'), each]))
    return ids.flatMap((id) => {
      const each = found.get(id)
      return each ? [rowOf(each)] : []
    })
  }

  return {
    job,
    rows,
    ...pagesOf(jobs, rows),

    async byKey(client: string, key: string): Promise<JobRow | undefined> {
      const found = await item(idempotencyKey(client, key))
      const id = found && textOf(found, 'id')
      return id === undefined ? undefined : job(id)
    },

    async body(id: string): Promise<Place | undefined> {
      const found = await item(jobKey(id), ['state', 'kept_bytes', 'body', 'body_content', 'body_bytes'])
      const isKept = found && (textOf(found, 'state') === 'open' || found.kept_bytes !== undefined)
      return isKept ? placeIn(found, 'body') : undefined
    },

    async result(id: string): Promise<(Place & { status: number; fields: string }) | undefined> {
      const names = ['result_kept', 'status', 'answer_fields', 'result', 'result_content', 'result_bytes']
      const found = await item(jobKey(id), names)
      if (!found || numberOf(found, 'result_kept') !== 1) return undefined
      const [status, fields] = [numberOf(found, 'status')!, textOf(found, 'answer_fields') ?? '[]']
      return { ...placeIn(found, 'result'), status, fields }
    },
  }
}

/** What reads many jobs: `rows` reads them by their ids. */
function pagesOf(jobs: JobsTable, rows: (ids: readonly string[]) => Promise<JobRow[]>) {
  return {
    /** Up to one row more than asked for, which tells whether a page follows. */
    async list(asked: JobQuery, before: number | undefined): Promise<JobRow[]> {
      const ids: string[] = []
      for await (const each of newestFirst(jobs, asked, before)) {
        ids.push(textOf(each, 'id')!)
        if (ids.length > asked.limit) break
      }
      return rows(ids)
    },

    async *open(): AsyncGenerator<JobRow[]> {
      const streams = eachShard((shard) =>
        items(jobs, {
          KeyConditionExpression: 'pk = :shard',
          ExpressionAttributeValues: { ':shard': keyOf(`open#${shard}`).pk! },
          ConsistentRead: true,
        }),
      )
      let ids: string[] = []
      for await (const each of merged(streams, (a, b) => (a.sk!.S! < b.sk!.S! ? -1 : 1))) {
        ids.push(textOf(each, 'id')!)
        if (ids.length < pageRows) continue
        yield (await rows(ids)).filter(({ state }) => state === 'open')
        ids = []
      }
      yield (await rows(ids)).filter(({ state }) => state === 'open')
    },

    async webhooks(limit: number): Promise<JobRow[]> {
      const ids: string[] = []
      for await (const each of dueFirst(jobs, 'waiting')) {
        ids.push(textOf(each, 'id')!)
        if (ids.length === limit) break
      }
      const found = await rows(ids)
      return found.filter((row) => row.webhook_state === 'waiting' && row.webhook_due !== null)
    },

    async disabled(now: number): Promise<Map<string, number>> {
      const ids: string[] = []
      for await (const each of dueFirst(jobs, 'disabled', now)) ids.push(textOf(each, 'id')!)
      const urls = new Map<string, number>()
      for (const { webhook_state, webhook_due, webhook_url } of await rows(ids)) {
        if (webhook_state === 'disabled' && webhook_due !== null && webhook_due > now)
          urls.set(webhook_url!, webhook_due)
      }
      return urls
    },
  }
}

export type Reads = ReturnType<typeof readsOf>

function placeIn(item: Item, name: 'body' | 'result'): Place {
  return {
    bytes: bytesOf(item, name),
    content: textOf(item, `${name}_content`),
    length: numberOf(item, `${name}_bytes`) ?? 0,
  }
}

/** The entries of jobs, by the index. */
function newestFirst(jobs: JobsTable, asked: JobQuery, before: number | undefined): AsyncGenerator<Item> {
  const { state, workload, client, limit } = asked
  const wanted = Object.entries({ state, workload, client }).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  )
  const streams = eachShard((shard) =>
    items(jobs, {
      IndexName: byOrder,
      KeyConditionExpression:
        before === undefined ? 'list_shard = :shard' : 'list_shard = :shard AND seq < :before',
      ExpressionAttributeValues: {
        ':shard': toAttribute(`${shard}`),
        ...(before !== undefined && { ':before': toAttribute(before) }),
        ...Object.fromEntries(wanted.map(({ name, value }) => [`:${name}`, toAttribute(value)])),
      },
      ScanIndexForward: false,
      ...(wanted.length === 0
        ? { Limit: limit + 1 }
        : {
            FilterExpression: wanted.map(({ name }) => `#${name} = :${name}`).join(' AND '),
            ExpressionAttributeNames: Object.fromEntries(wanted.map(({ name }) => [`#${name}`, name])),
          }),
    }),
  )
  return merged(streams, (a, b) => numberOf(b, 'seq')! - numberOf(a, 'seq')!)
}

/** `after`: only webhooks that are due later. */
function dueFirst(jobs: JobsTable, state: 'waiting' | 'disabled', after?: number): AsyncGenerator<Item> {
  const streams = eachShard((shard) =>
    items(jobs, {
      IndexName: byDue,
      KeyConditionExpression:
        after === undefined ? 'hook_shard = :shard' : 'hook_shard = :shard AND webhook_due > :after',
      ExpressionAttributeValues: {
        ':shard': toAttribute(`${state}#${shard}`),
        ...(after !== undefined && { ':after': toAttribute(after) }),
      },
    }),
  )
  return merged(
    streams,
    (a, b) =>
      numberOf(a, 'webhook_due')! - numberOf(b, 'webhook_due')! || numberOf(a, 'seq')! - numberOf(b, 'seq')!,
  )
}

export async function* items(
  { dynamo, table }: JobsTable,
  input: Omit<QueryCommandInput, 'TableName'>,
): AsyncGenerator<Item> {
  for await (const page of query(dynamo, { TableName: table, ...input })) yield* page
}

/** One stream of several that are in order. */
export async function* merged(
  streams: readonly AsyncGenerator<Item>[],
  compare: (a: Item, b: Item) => number,
): AsyncGenerator<Item> {
  const advance = async (stream: AsyncGenerator<Item>) => ({ stream, next: await stream.next() })
  const heads = await Promise.all(streams.map(advance))
  try {
    for (;;) {
      const first = heads
        .filter(({ next }) => !next.done)
        .reduce<(typeof heads)[number] | undefined>(
          (best, each) => (best && compare(best.next.value!, each.next.value!) <= 0 ? best : each),
          undefined,
        )
      if (!first) return
      yield first.next.value!
      first.next = await first.stream.next()
    }
  } finally {
    await Promise.all(streams.map((stream) => stream.return(undefined)))
  }
}
