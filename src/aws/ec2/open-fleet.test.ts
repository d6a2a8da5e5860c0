import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../../lib/errors.ts'
import { openFleet } from './open-fleet.ts'
import { settings } from './testing/fake-ec2.ts'
import { errorBody, listBody, machineXml, startQueryServer, withEnvironment } from './testing/query-server.ts'

const messageOf = async (opening: Promise<unknown>) => {
  const error = await opening.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof ConfigError, String(error))
  return error.message
}

const would = { status: 412, body: errorBody('DryRunOperation', 'Request would have succeeded') }

test('instances that an earlier balancer left are found at the start', async (t) => {
  const server = await startQueryServer(t)
  const machines = [machineXml('i-1', '4-1', 'running'), machineXml('i-2', '4-2', 'terminated')]
  server.answers.push({ body: listBody(machines) }, would)
  const { left, region } = await openFleet(settings, 'secret', true)
  assert.equal(region, 'eu-west-1')
  assert.deepEqual(
    left.map(({ id, launch }) => [id, launch]),
    [['i-1', '4-1']],
  )
})

test('a denied action is a mistake of the configuration, found before the first launch', async (t) => {
  const server = await startQueryServer(t)
  server.answers.push(
    { body: listBody([]) },
    { status: 403, body: errorBody('UnauthorizedOperation', 'You are not authorized.') },
  )
  assert.equal(
    await messageOf(openFleet(settings, 'secret', true)),
    '--fleet = ec2: ec2:RunInstances of image ami-1 as t3.small in eu-west-1: the credentials do not allow this action; add it to the policy of their role or user (UnauthorizedOperation: You are not authorized.)',
  )
})

test('missing capacity at the start is no mistake', async (t) => {
  const server = await startQueryServer(t)
  const none = { status: 500, body: errorBody('InsufficientInstanceCapacity', 'none') }
  server.answers.push({ body: listBody([]) }, none)
  await openFleet(settings, 'secret', true)
})

test('expired credentials are named', async (t) => {
  const server = await startQueryServer(t)
  server.answers.push({ status: 400, body: errorBody('ExpiredToken', 'The security token is expired.') })
  assert.match(
    await messageOf(openFleet(settings, 'secret', true)),
    /^--fleet = ec2: ec2:DescribeInstances of cluster test in eu-west-1: the credentials have expired/,
  )
})

test('missing credentials are named, with ways to give them', async (t) => {
  withEnvironment(t, { AWS_REGION: 'eu-west-1', HOME: '/nonexistent' })
  assert.match(
    await messageOf(openFleet(settings, 'secret', true)),
    /ec2:DescribeInstances of cluster test in eu-west-1: AWS finds no valid credentials; set AWS_PROFILE/,
  )
})

test('a missing region is named', async (t) => {
  withEnvironment(t, {})
  assert.match(
    await messageOf(openFleet(settings, 'secret', true)),
    /the region is missing or not enabled; set --aws-region or AWS_REGION/,
  )
})

test('a script that is too long for AWS is refused', async () => {
  const script = `#!/bin/sh\n${'#'.repeat(16_384)}`
  assert.match(
    await messageOf(openFleet({ ...settings, script }, 'secret', true)),
    /^--ec2-user-data: has 16394 bytes when filled in: must be at most 16384$/,
  )
})
