/** DynamoDB tables: the documents' own ones by preset, and the store of kept jobs. All encrypted, paid by request. */

import type { Stack } from 'aws-cdk-lib'
import dynamodb from 'aws-cdk-lib/aws-dynamodb'
import type { PresetName, Settings } from './settings.ts'

interface TableKeys {
  name: string
  hash: string
  range?: string
}

/** As `src/systems/` names and reads them; the names begin with that of the cluster. */
const documentTables: Readonly<Record<PresetName, readonly TableKeys[]>> = {
  plimsoll: [],
  cloudprime: [{ name: 'cloudprime', hash: 'parameter', range: 'code' }],
  cnv: [{ name: 'WORKLOAD_METRICS', hash: 'type', range: 'sortKey' }],
  hillclimbing: [
    { name: 'HcRequest', hash: 'requestId', range: 'code' },
    { name: 'HcInstance', hash: 'instanceId' },
  ],
  ecowork: [
    { name: 'ecowork-foxes-rabbits', hash: 'key', range: 'code' },
    { name: 'ecowork-insect-war', hash: 'key', range: 'code' },
    { name: 'ecowork-compress', hash: 'key', range: 'code' },
  ],
}

export interface Tables {
  /** Written by the balancer. */
  documents: dynamodb.CfnTable[]
  /** Written by the balancer. */
  jobs: dynamodb.CfnTable
}

export function tables(stack: Stack, { name, preset }: Settings): Tables {
  const documents = documentTables[preset].map(({ name: table, hash, range }) =>
    newTable(stack, table.replaceAll('-', ''), `${name}-${table}`, [
      hash,
      ...(range === undefined ? [] : [range]),
    ]),
  )
  const jobs = newTable(stack, 'Jobs', `${name}-jobs`, ['pk', 'sk'], {
    texts: ['list_shard', 'ended_shard', 'hook_shard'],
    numbers: ['seq', 'ended_at', 'webhook_due'],
    indexes: jobIndexes,
  })
  return { documents, jobs }
}

const jobIndexes = [
  index('by-order', 'list_shard', 'seq', ['id', 'state', 'workload', 'client']),
  index('by-end', 'ended_shard', 'ended_at', [
    ...['id', 'seq', 'kept_bytes', 'webhook_state', 'result_kept', 'body_content', 'result_content'],
    ...['client', 'idempotency_key'],
  ]),
  index('by-due', 'hook_shard', 'webhook_due', ['id', 'seq']),
]

function index(name: string, hash: string, range: string, others: string[]) {
  return {
    indexName: name,
    keySchema: [
      { attributeName: hash, keyType: 'HASH' },
      { attributeName: range, keyType: 'RANGE' },
    ],
    projection: { projectionType: 'INCLUDE', nonKeyAttributes: others },
  }
}

interface MoreOfTable {
  texts: string[]
  numbers: string[]
  indexes: ReturnType<typeof index>[]
}

function newTable(
  stack: Stack,
  id: string,
  tableName: string,
  keys: readonly string[],
  more: MoreOfTable = { texts: [], numbers: [], indexes: [] },
): dynamodb.CfnTable {
  const attribute = (attributeType: string) => (attributeName: string) => ({ attributeName, attributeType })
  return new dynamodb.CfnTable(stack, `Table${id}`, {
    tableName,
    billingMode: 'PAY_PER_REQUEST',
    attributeDefinitions: [
      ...[...keys, ...more.texts].map(attribute('S')),
      ...more.numbers.map(attribute('N')),
    ],
    keySchema: keys.map((attributeName, i) => ({ attributeName, keyType: i === 0 ? 'HASH' : 'RANGE' })),
    ...(more.indexes.length > 0 && { globalSecondaryIndexes: more.indexes }),
    sseSpecification: { sseEnabled: true },
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
  })
}
