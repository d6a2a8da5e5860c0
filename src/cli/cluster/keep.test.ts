import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asyncAboveFrom, keepFrom } from './keep.ts'

const usual = {
  ...{ keepResults: 24, resultSpace: 1024, standby: false, openJobs: 50_000, openSpace: 1024, openShare: 50 },
  ...{ endedJobs: 1_000_000, endedSpace: 1024 },
  ...{ store: undefined, endpoint: undefined, webhookHosts: undefined, asyncAbove: undefined },
}

test('kept jobs are stored in a folder or in a database', () => {
  for (const store of ['data/jobs', 'postgres://user@host/db', 'postgresql://host/db'])
    assert.equal(keepFrom({ ...usual, store }).keep?.store, store)
  assert.equal(keepFrom(usual).keep?.store, undefined)
})

test('other databases are rejected by name, without user and password', () => {
  for (const store of ['mysql://user:secret@host/db', 'redis://user:sec@ret@host', ''])
    assert.throws(
      () => keepFrom({ ...usual, store }),
      ({ message }: Error) =>
        /^--store = .*: must be a folder, or begin with/.test(message) && !/user|sec/.test(message),
    )
})

test('tables of DynamoDB are named by a prefix and a region, or lie at an endpoint', () => {
  const storeOf = (store: string, endpoint?: string) => keepFrom({ ...usual, store, endpoint }).keep?.store
  const atHome = 'dynamodb://plimsoll?endpoint=http%3A%2F%2Flocalhost%3A8000'
  assert.equal(storeOf('dynamodb'), 'dynamodb://plimsoll')
  assert.equal(storeOf('dynamodb://shop?region=eu-central-1'), 'dynamodb://shop?region=eu-central-1')
  assert.equal(storeOf('dynamodb', 'http://localhost:8000'), atHome)
  assert.equal(keepFrom({ ...usual, store: 'dynamodb', standby: true }).keep?.standby, true)
})

test('wrong prefixes, regions and endpoints of DynamoDB are rejected by name', () => {
  const rejects = (store: string | undefined, endpoint: string | undefined, message: RegExp) =>
    assert.throws(() => keepFrom({ ...usual, store, endpoint }), message)
  rejects('dynamodb://a', undefined, /store = dynamodb:\/\/a: the table prefix must have 2 to 200 letters/)
  rejects('dynamodb://shop?regoin=x', undefined, /store = .*: must be dynamodb or dynamodb:\/\/TABLE-PREFIX/)
  rejects('dynamodb://key:secret@shop', undefined, /store = dynamodb:\/\/…@shop: must be dynamodb/)
  rejects('dynamodb://shop?region=EU', undefined, /region = EU: must be the name of a region/)
  rejects('dynamodb', 'localhost:8000', /endpoint = localhost:8000: the endpoint must be the URL/)
  rejects('folder', 'http://localhost:8000', /--endpoint requires --store = dynamodb/)
})

test('a standby requires a database that clusters can share', () => {
  const store = 'postgres://host/db'
  assert.equal(keepFrom({ ...usual, store, standby: true }).keep?.standby, true)
  for (const other of [{}, { store: 'folder' }])
    assert.throws(
      () => keepFrom({ ...usual, ...other, standby: true }),
      /--standby requires --store = postgres/,
    )
})

test('the time above which requests are kept has a unit', () => {
  assert.equal(asyncAboveFrom({ asyncAbove: '1.5m' }), 90_000)
  for (const asyncAbove of ['30', '0s', 's', '-1s'])
    assert.throws(() => asyncAboveFrom({ asyncAbove }), /must be a time above 0 with ms, s, m or h/)
})

test('limits of open jobs are bytes and a share', () => {
  const { open } = keepFrom({ ...usual, openJobs: 7, openSpace: 2, openShare: 25 }).keep!
  assert.deepEqual(open, { jobs: 7, bytes: 2 * 2 ** 20, clientShare: 0.25 })
})

test('limits of jobs that have ended are a number and bytes', () => {
  const { ended } = keepFrom({ ...usual, endedJobs: 9, endedSpace: 1.5 }).keep!
  assert.deepEqual(ended, { jobs: 9, bytes: 1.5 * 2 ** 20 })
})
