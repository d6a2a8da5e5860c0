/** A client of DynamoDB whose errors name the action and the table, and the requests that take several calls. */
import type {
  CreateTableCommandInput,
  DynamoDB,
  QueryCommandInput,
  ScanCommandInput,
  WriteRequest,
} from '@aws-sdk/client-dynamodb'
import { ConfigError } from '../../lib/errors.ts'
import { checkPackage } from '../optional-package.ts'
import type { Item } from './attributes.ts'
import { DynamoError, explainError } from './explain-error.ts'
import type { DynamoLocation } from './location.ts'

const sdk = '@aws-sdk/client-dynamodb'

export interface Dynamo {
  readonly region: string
  /** Calls DynamoDB. Errors become `DynamoError`s that name the action and the table. */
  call<T>(action: string, table: string, send: (db: DynamoDB) => Promise<T>): Promise<T>
  close(): void
}

const [mostTries, connectMs, answerMs] = [6, 3_000, 10_000]

/** Throws ConfigError if the package is not installed. */
export function checkDynamo(user: string): void {
  checkPackage(sdk, user)
}

/**
 * The SDK repeats throttled and failed calls itself, after exponentially growing, random times. Rejects with ConfigError if
 * the package is not installed or no region is set.
 */
export async function openDynamo({ region, endpoint }: DynamoLocation): Promise<Dynamo> {
  checkDynamo('store: DynamoDB')
  const { DynamoDB: Client } = await import('@aws-sdk/client-dynamodb')
  const isOwn = endpoint !== undefined && !hasCredentials()
  const settings = {
    ...(endpoint !== undefined && { endpoint }),
    // DynamoDB Local accepts any key, and keeps the tables of different ones apart.
    ...(isOwn && { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    maxAttempts: mostTries,
    requestHandler: { connectionTimeout: connectMs, requestTimeout: answerMs, throwOnRequestTimeout: true },
  }
  const used = region ?? (await usualRegion(new Client({}), endpoint))
  const db = new Client({ ...settings, region: used })
  return {
    region: used,
    async call(action, table, send) {
      try {
        return await send(db)
      } catch (error) {
        throw explainError(error, { action, table, region: used })
      }
    },
    close: () => db.destroy(),
  }
}

/** As the environment or the configuration of AWS has it. */
async function usualRegion(db: DynamoDB, endpoint: string | undefined): Promise<string> {
  try {
    return await db.config.region()
  } catch (error) {
    // A server of one's own takes any region.
    if (endpoint !== undefined) return 'us-east-1'
    const why = (error as Error).message
    throw new ConfigError(`store: no AWS region is set (${why}). Add ?region=REGION, or set AWS_REGION`)
  } finally {
    db.destroy()
  }
}

function hasCredentials(): boolean {
  const { AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI } = process.env
  return [AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_CONTAINER_CREDENTIALS_RELATIVE_URI].some(Boolean)
}

/** All items that a query finds, page by page. */
export async function* query(dynamo: Dynamo, input: QueryCommandInput): AsyncGenerator<Item[]> {
  for (let start: Item | undefined; ; ) {
    const page = await dynamo.call('Query', input.TableName!, (db) =>
      db.query({ ...input, ...(start && { ExclusiveStartKey: start }) }),
    )
    if (page.Items && page.Items.length > 0) yield page.Items
    start = page.LastEvaluatedKey
    if (!start) return
  }
}

/** All items of a table, page by page. */
export async function* scan(dynamo: Dynamo, input: ScanCommandInput): AsyncGenerator<Item[]> {
  for (let start: Item | undefined; ; ) {
    const page = await dynamo.call('Scan', input.TableName!, (db) =>
      db.scan({ ...input, ...(start && { ExclusiveStartKey: start }) }),
    )
    if (page.Items && page.Items.length > 0) yield page.Items
    start = page.LastEvaluatedKey
    if (!start) return
  }
}

const [mostReads, mostWrites] = [100, 25]

/** The items with these keys, in any order. Missing items are left out. Consistent. */
export async function getItems(
  dynamo: Dynamo,
  table: string,
  keys: readonly Item[],
  names?: readonly string[],
): Promise<Item[]> {
  const found: Item[] = []
  const projection = names && {
    ProjectionExpression: names.map((_, index) => `#n${index}`).join(', '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, index) => [`#n${index}`, name])),
  }
  for (let at = 0; at < keys.length; at += mostReads) {
    let left: Item[] = keys.slice(at, at + mostReads)
    for (let tries = 0; left.length > 0; tries++) {
      await backOff(tries, 'BatchGetItem', table, dynamo)
      const page = await dynamo.call('BatchGetItem', table, (db) =>
        db.batchGetItem({ RequestItems: { [table]: { Keys: left, ConsistentRead: true, ...projection } } }),
      )
      found.push(...(page.Responses?.[table] ?? []))
      left = page.UnprocessedKeys?.[table]?.Keys ?? []
    }
  }
  return found
}

/** Puts and deletes items, without conditions. Repeats what DynamoDB leaves unprocessed. */
export async function writeItems(
  dynamo: Dynamo,
  table: string,
  writes: readonly WriteRequest[],
): Promise<void> {
  for (let at = 0; at < writes.length; at += mostWrites) {
    let left = writes.slice(at, at + mostWrites)
    for (let tries = 0; left.length > 0; tries++) {
      await backOff(tries, 'BatchWriteItem', table, dynamo)
      const page = await dynamo.call('BatchWriteItem', table, (db) =>
        db.batchWriteItem({ RequestItems: { [table]: left } }),
      )
      left = page.UnprocessedItems?.[table] ?? []
    }
  }
}

const [firstWaitMs, longestWaitMs, mostWaits] = [50, 2_000, 12]

/** Waits before a repetition: up to twice as long each time, at random. Rejects when there were too many. */
export async function backOff(
  tries: number,
  action: string,
  table: string,
  { region }: Pick<Dynamo, 'region'>,
): Promise<void> {
  if (tries === 0) return
  if (tries > mostWaits)
    throw new DynamoError(
      `dynamodb:${action} on table ${table} in ${region}: DynamoDB throttles it. Raise the capacity of the table, or use ` +
        `on-demand capacity (${tries} tries)`,
      'ThrottlingException',
      false,
      undefined,
    )
  const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** (tries - 1))
  await new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}

/** Makes a table with on-demand capacity if it is missing, and waits until it can be used. Resolves with its keys. */
export async function ensureTable(
  dynamo: Dynamo,
  definition: Omit<CreateTableCommandInput, 'BillingMode' | 'TableName'> & { TableName: string },
): Promise<string[]> {
  const table = definition.TableName
  for (let tries = 0; ; tries++) {
    const found = await described(dynamo, table)
    if (found?.TableStatus === 'ACTIVE' || found?.TableStatus === 'UPDATING')
      return (found.KeySchema ?? []).map(({ AttributeName }) => AttributeName ?? '')
    if (!found) await create(dynamo, definition)
    else await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, 50 * 2 ** tries)))
    if (tries > 90)
      throw new DynamoError(
        `dynamodb:CreateTable on table ${table} in ${dynamo.region}: the table does not become active (${found?.TableStatus})`,
        'TableNotActive',
        true,
        undefined,
      )
  }
}

async function described(dynamo: Dynamo, table: string) {
  try {
    const { Table } = await dynamo.call('DescribeTable', table, (db) =>
      db.describeTable({ TableName: table }),
    )
    return Table
  } catch (error) {
    if (error instanceof DynamoError && error.reason === 'ResourceNotFoundException') return undefined
    throw error
  }
}

/** Encrypted by default; another process may make it at the same time. */
async function create(
  dynamo: Dynamo,
  definition: Omit<CreateTableCommandInput, 'BillingMode'>,
): Promise<void> {
  const table = definition.TableName!
  try {
    await dynamo.call('CreateTable', table, (db) =>
      db.createTable({ ...definition, BillingMode: 'PAY_PER_REQUEST' } as CreateTableCommandInput),
    )
  } catch (error) {
    if (!(error instanceof DynamoError) || error.reason !== 'ResourceInUseException') throw error
  }
}
