import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sdkApi } from './sdk-api.ts'
import { settings } from './testing/fake-ec2.ts'
import { errorBody, listBody, machineXml, startQueryServer } from './testing/query-server.ts'

const request = {
  launch: '5-1',
  choice: { type: 't3.micro', subnet: 'subnet-1' },
  clientToken: 'token',
  userData: '#!/bin/sh',
}
const launched = {
  body: '<RunInstancesResponse><instancesSet><item><instanceId>i-1</instanceId></item></instancesSet></RunInstancesResponse>',
}

test('an instance is launched with its tags, its token and its user data, and demands IMDSv2', async (t) => {
  const server = await startQueryServer(t)
  server.answers.push(launched)
  const api = await sdkApi({
    ...settings,
    securityGroups: ['sg-1'],
    profile: 'worker',
    spot: true,
    detailedMonitoring: true,
  })
  assert.equal(await api.run(request), 'i-1')
  const form = Object.fromEntries(server.calls[0]!)
  const expected = {
    Action: 'RunInstances',
    ClientToken: 'token',
    MinCount: '1',
    MaxCount: '1',
    ImageId: 'ami-1',
    InstanceType: 't3.micro',
    SubnetId: 'subnet-1',
    'SecurityGroupId.1': 'sg-1',
    'IamInstanceProfile.Name': 'worker',
    'InstanceMarketOptions.MarketType': 'spot',
    'Monitoring.Enabled': 'true',
    'MetadataOptions.HttpTokens': 'required',
    InstanceInitiatedShutdownBehavior: 'terminate',
    UserData: Buffer.from('#!/bin/sh').toString('base64'),
    'TagSpecification.1.ResourceType': 'instance',
    'TagSpecification.1.Tag.1.Value': 'test w1',
    'TagSpecification.1.Tag.2.Key': 'plimsoll:cluster',
    'TagSpecification.1.Tag.2.Value': 'test',
    'TagSpecification.1.Tag.3.Key': 'plimsoll:launch',
    'TagSpecification.1.Tag.3.Value': '5-1',
  }
  for (const [name, value] of Object.entries(expected)) assert.equal(form[name], value, name)
})

test('a launch template may stand in place of image, type and subnet', async (t) => {
  const server = await startQueryServer(t)
  server.answers.push(launched)
  const { image: _, ...rest } = settings
  const api = await sdkApi({ ...rest, template: { name: 'workers', version: '3' } })
  await api.run({ ...request, choice: { type: undefined, subnet: undefined } })
  const form = Object.fromEntries(server.calls[0]!)
  assert.equal(form['LaunchTemplate.LaunchTemplateName'], 'workers')
  assert.equal(form['LaunchTemplate.Version'], '3')
  assert.deepEqual([form.ImageId, form.InstanceType, form.SubnetId], [undefined, undefined, undefined])
})

test('all pages of the list are read, and machines that have ended are told apart', async (t) => {
  const server = await startQueryServer(t)
  server.answers.push(
    { body: listBody([machineXml('i-1', '5-1', 'pending')], 'next') },
    { body: listBody([machineXml('i-2', '5-2', 'shutting-down'), machineXml('i-3', '5-3', 'stopped')]) },
  )
  const api = await sdkApi(settings)
  const machines = await api.machines('5-1')
  assert.deepEqual(
    machines.map(({ id, launch, isEnded }) => [id, launch, isEnded]),
    [
      ['i-1', '5-1', false],
      ['i-2', '5-2', true],
      ['i-3', '5-3', false],
    ],
  )
  assert.equal(machines[0]!.since, Date.parse('2030-01-01'))
  assert.equal(machines[1]!.reason, 'because')
  const form = Object.fromEntries(server.calls[0]!)
  assert.equal(form['Filter.1.Name'], 'tag:plimsoll:cluster')
  assert.equal(form['Filter.2.Value.1'], '5-1')
  assert.equal(server.calls[1]!.get('NextToken'), 'next')
  server.answers.push({ body: listBody([]) })
  assert.deepEqual(await api.machines(), [])
  assert.equal(server.calls[2]!.get('Filter.2.Name'), 'tag-key')
  assert.equal(server.calls[2]!.get('Filter.2.Value.1'), 'plimsoll:launch')
})

test('errors name the action and the resource, and the SDK repeats nothing by itself', async (t) => {
  const server = await startQueryServer(t)
  server.answers.push({ status: 503, body: errorBody('RequestLimitExceeded', 'Request limit exceeded.') })
  await assert.rejects((await sdkApi(settings)).run(request), {
    kind: 'throttled',
    message:
      'ec2:RunInstances of image ami-1 as t3.micro in subnet-1 in eu-west-1: AWS limits the rate of these calls (RequestLimitExceeded: Request limit exceeded.)',
  })
  assert.equal(server.calls.length, 1)
})

test('a trial launch succeeds if AWS would have launched', async (t) => {
  const server = await startQueryServer(t)
  const api = await sdkApi(settings)
  const would = 'Request would have succeeded, but DryRun flag is set.'
  server.answers.push({ status: 412, body: errorBody('DryRunOperation', would) })
  await api.tryRun(request)
  assert.equal(server.calls[0]!.get('DryRun'), 'true')
  server.answers.push({ status: 400, body: errorBody('InvalidAMIID.NotFound', 'no image') })
  await assert.rejects(api.tryRun(request), { kind: 'rejected' })
})
