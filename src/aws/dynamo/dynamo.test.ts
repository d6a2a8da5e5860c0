import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { toItem } from './attributes.ts'
import { type Dynamo, ensureTable, getItems, openDynamo, query, writeItems } from './dynamo.ts'
import { DynamoError, explainError } from './explain-error.ts'

interface Reply {
  status?: number
  /** Undefined: the connection breaks. */
  body?: object
}

/** A server with prepared replies; the last one is repeated. It notes what it is asked. */
async function stand(t: TestContext, ...replies: Reply[]) {
  const asked: { action: string; input: Record<string, unknown> }[] = []
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request)
    const action = String(request.headers['x-amz-target']).split('.')[1]!
    asked.push({ action, input: JSON.parse(Buffer.concat(chunks).toString()) })
    const { status = 200, body } = replies.length > 1 ? replies.shift()! : replies[0]!
    if (!body) return request.socket.destroy()
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const dynamo = await openDynamo({ prefix: 'shop', region: 'eu-central-1', endpoint })
  t.after(() => {
    dynamo.close()
    server.closeAllConnections()
    server.close()
  })
  return { dynamo, asked, endpoint }
}

const refusal = (name: string, message = 'no', status = 400) => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message },
})

async function failure(dynamo: Dynamo): Promise<DynamoError> {
  const call = dynamo.call('PutItem', 'shop-jobs', (db) =>
    db.putItem({ TableName: 'shop-jobs', Item: toItem({ pk: 'a' }) }),
  )
  const error = await call.then(
    () => undefined,
    (problem: unknown) => problem,
  )
  assert.ok(error instanceof DynamoError)
  return error
}

test('an error names the action, the table, the region, the cause and the remedy', async (t) => {
  const causes = {
    AccessDeniedException: /AWS denies it\. Allow this action on this table/,
    ExpiredTokenException: /the session token has expired\. Log in again/,
    UnrecognizedClientException: /AWS rejects the credentials\. Check the access key/,
    ResourceNotFoundException: /the table does not exist in this region\. Check the region and the prefix/,
    ValidationException: /DynamoDB rejects it \(no\)/,
  }
  for (const [name, cause] of Object.entries(causes)) {
    const { dynamo } = await stand(t, refusal(name))
    const { message, isUnknown, reason } = await failure(dynamo)
    assert.match(message, /^dynamodb:PutItem on table shop-jobs in eu-central-1: /)
    assert.match(message, cause)
    assert.deepEqual([isUnknown, reason], [false, name])
  }
})

test('a throttled call is repeated', async (t) => {
  const throttled = refusal('ProvisionedThroughputExceededException')
  const { dynamo, asked } = await stand(t, throttled, throttled, { body: {} })
  await dynamo.call('PutItem', 'shop-jobs', (db) =>
    db.putItem({ TableName: 'shop-jobs', Item: toItem({ pk: 'a' }) }),
  )
  assert.equal(asked.length, 3)
})

test('whether a call without an answer was done is unknown', async (t) => {
  const { dynamo, asked } = await stand(t, {})
  const { message, isUnknown } = await failure(dynamo)
  assert.match(message, /dynamodb:PutItem on table shop-jobs in eu-central-1: DynamoDB did not answer/)
  assert.equal(isUnknown, true)
  assert.ok(asked.length > 1, 'the SDK repeats it')
})

test('a server that refuses connections is to be checked', async () => {
  const endpoint = 'http://127.0.0.1:1'
  const dynamo = await openDynamo({ prefix: 'shop', region: 'eu-central-1', endpoint })
  assert.match(
    (await failure(dynamo)).message,
    /DynamoDB cannot be reached\. Check the endpoint, and that it runs/,
  )
  dynamo.close()
})

test('without credentials nothing is sent', () => {
  const cause = Object.assign(new Error('Could not load credentials'), { name: 'CredentialsProviderError' })
  const { message, isUnknown } = explainError(cause, { action: 'PutItem', table: 'shop-jobs', region: 'eu' })
  assert.match(
    message,
    /^dynamodb:PutItem on table shop-jobs in eu: no AWS credentials were found\. Set AWS_PROFILE/,
  )
  assert.equal(isUnknown, false)
})

test('batches repeat what DynamoDB leaves unprocessed', async (t) => {
  const items = [1, 2].map((n) => ({ PutRequest: { Item: toItem({ pk: `${n}` }) } }))
  const { dynamo, asked } = await stand(
    t,
    { body: { UnprocessedItems: { jobs: [items[1]] } } },
    { body: { UnprocessedItems: {} } },
  )
  await writeItems(dynamo, 'jobs', items)
  assert.deepEqual(
    asked.map(({ input }) => (input as { RequestItems: { jobs: unknown[] } }).RequestItems.jobs.length),
    [2, 1],
  )
})

test('keys that DynamoDB leaves unprocessed are read again', async (t) => {
  const keys = ['1', '2'].map((pk) => toItem({ pk }))
  const { dynamo } = await stand(
    t,
    { body: { Responses: { jobs: [keys[0]] }, UnprocessedKeys: { jobs: { Keys: [keys[1]] } } } },
    { body: { Responses: { jobs: [keys[1]] } } },
  )
  assert.deepEqual(await getItems(dynamo, 'jobs', keys), keys)
})

test('a query reads all pages', async (t) => {
  const [one, two] = ['1', '2'].map((pk) => toItem({ pk }))
  const { dynamo, asked } = await stand(
    t,
    { body: { Items: [one], LastEvaluatedKey: one } },
    { body: { Items: [], LastEvaluatedKey: two } },
    { body: { Items: [two] } },
  )
  const pages = await Array.fromAsync(query(dynamo, { TableName: 'jobs', KeyConditionExpression: 'pk = :a' }))
  assert.deepEqual(pages.flat(), [one, two])
  assert.deepEqual(
    asked.map(({ input }) => input.ExclusiveStartKey),
    [undefined, one, two],
  )
})

test('a table that another process makes at the same time is used when it is active', async (t) => {
  const { dynamo, asked } = await stand(
    t,
    refusal('ResourceNotFoundException'),
    refusal('ResourceInUseException'),
    { body: { Table: { TableStatus: 'CREATING' } } },
    { body: { Table: { TableStatus: 'ACTIVE', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] } } },
  )
  const keys = await ensureTable(dynamo, {
    TableName: 'shop-jobs',
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
  })
  assert.deepEqual(keys, ['pk'])
  assert.equal(asked[1]?.input.BillingMode, 'PAY_PER_REQUEST')
})

test("a missing region is an error of the configuration, but for servers of one's own", async (t) => {
  const { asked, endpoint } = await stand(t, { body: {} })
  const before = { ...process.env }
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION']) delete process.env[name]
  process.env.AWS_CONFIG_FILE = '/nonexistent'
  try {
    await assert.rejects(openDynamo({ prefix: 'shop' }), /ConfigError: store: no AWS region is set/)
    const own = await openDynamo({ prefix: 'shop', endpoint })
    await own.call('ListTables', 'any', (db) => db.listTables())
    assert.deepEqual([own.region, asked.length], ['us-east-1', 1])
    own.close()
  } finally {
    Object.assign(process.env, before)
    if (before.AWS_CONFIG_FILE === undefined) delete process.env.AWS_CONFIG_FILE
  }
})
