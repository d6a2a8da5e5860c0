import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeFleet } from './testing/fake-ec2.ts'

const launchesOf = async ({ fleet }: ReturnType<typeof fakeFleet>) =>
  (await fleet.list()).map(({ launch }) => launch)

test('a launch runs one instance, which the list names by its launch', async () => {
  const fake = fakeFleet()
  fake.fleet.launch('5-1')
  await fake.settle()
  assert.deepEqual(await fake.fleet.list(), [{ launch: '5-1', since: 1000 }])
  assert.equal(fake.fleet.instanceOf('5-1'), 'i-1')
  assert.match(fake.ec2.requests[0]!.userData, /--join tls:\/\/10\.0\.0\.1:8082 --launch 5-1/)
  assert.deepEqual(fake.told, [])
})

test('a lost answer is asked for again with the same client token, and never makes two instances', async () => {
  const fake = fakeFleet()
  fake.ec2.fails('run', 'unknown', true)
  fake.ec2.fails('run', 'unknown', true)
  fake.fleet.launch('5-1')
  await fake.settle()
  const tokens = fake.ec2.requests.map(({ clientToken }) => clientToken)
  assert.equal(tokens.length, 3)
  assert.equal(new Set(tokens).size, 1)
  assert.ok(tokens[0]!.length <= 64)
  assert.deepEqual(fake.ec2.alive(), ['i-1'])
})

test('launches of other names have other client tokens', async () => {
  const fake = fakeFleet()
  fake.fleet.launch('5-1')
  fake.fleet.launch('5-2')
  await fake.settle()
  assert.equal(new Set(fake.ec2.requests.map(({ clientToken }) => clientToken)).size, 2)
})

test('a throttled launch is repeated after pauses that double', async () => {
  const fake = fakeFleet()
  for (let i = 0; i < 3; i++) fake.ec2.fails('run', 'throttled')
  fake.fleet.launch('5-1')
  await fake.settle()
  assert.deepEqual(fake.pauses, [500, 1000, 2000])
  assert.deepEqual(fake.ec2.alive(), ['i-1'])
})

test('a launch that stays throttled fails in the end', async () => {
  const fake = fakeFleet()
  for (let i = 0; i < 12; i++) fake.ec2.fails('run', 'throttled')
  fake.fleet.launch('5-1')
  await fake.settle()
  assert.deepEqual(fake.told, ['5-1 failed: run fails: throttled'])
  assert.deepEqual(await launchesOf(fake), [])
})

test('without capacity for a type, the next one is launched, and later launches begin with it', async () => {
  const fake = fakeFleet()
  fake.ec2.fails('run', 'capacity')
  fake.fleet.launch('5-1')
  await fake.settle()
  fake.fleet.launch('5-2')
  await fake.settle()
  const types = fake.ec2.requests.map(({ choice }) => choice.type)
  assert.deepEqual(types, ['t3.small', 't3.micro', 't3.micro'])
  assert.deepEqual(fake.ec2.alive(), ['i-1', 'i-2'])
})

test('a launch fails if there is capacity for none of the types', async () => {
  const fake = fakeFleet()
  fake.ec2.fails('run', 'capacity')
  fake.ec2.fails('run', 'capacity')
  fake.fleet.launch('5-1')
  await fake.settle()
  assert.deepEqual(fake.told, ['5-1 failed: run fails: capacity'])
})

test('a denied launch fails at once', async () => {
  const fake = fakeFleet()
  fake.ec2.fails('run', 'denied')
  fake.fleet.launch('5-1')
  await fake.settle()
  assert.deepEqual(fake.told, ['5-1 failed: run fails: denied'])
  assert.equal(fake.ec2.requests.length, 1)
})

test('a launch whose outcome is unknown counts as a machine, once', async () => {
  const fake = fakeFleet()
  fake.holdPauses()
  fake.ec2.isLagging = true
  fake.ec2.fails('run', 'unknown', true)
  fake.fleet.launch('5-1')
  await fake.settle()
  assert.deepEqual(await launchesOf(fake), ['5-1'])
  fake.ec2.isLagging = false
  assert.deepEqual(await launchesOf(fake), ['5-1'])
  fake.resume()
})

test('a launch that is abandoned while its outcome is unknown is terminated, although lists lack it', async () => {
  const fake = fakeFleet()
  fake.holdPauses()
  fake.ec2.isLagging = true
  fake.ec2.fails('run', 'unknown', true)
  fake.fleet.launch('5-1')
  await fake.settle()
  fake.fleet.terminate('5-1')
  await fake.settle()
  assert.deepEqual(fake.ec2.alive(), ['i-1'])
  fake.resume()
  await fake.settle()
  assert.deepEqual(fake.ec2.alive(), [])
  assert.deepEqual(fake.told, [])
})

test('a launch that is abandoned while it is throttled makes no instance', async () => {
  const fake = fakeFleet()
  fake.holdPauses()
  fake.ec2.fails('run', 'throttled')
  fake.fleet.launch('5-1')
  await fake.settle()
  fake.fleet.terminate('5-1')
  fake.resume()
  await fake.settle()
  assert.equal(fake.ec2.requests.length, 1)
  assert.deepEqual(fake.told, [])
})

test('a launch that is abandoned before its answer comes is terminated, although lists lack it', async () => {
  const fake = fakeFleet()
  fake.ec2.isLagging = true
  fake.fleet.launch('5-1')
  fake.fleet.terminate('5-1')
  await fake.settle()
  assert.deepEqual(fake.ec2.alive(), [])
})

test('terminating ends all instances of a launch, and may be repeated', async () => {
  const fake = fakeFleet()
  const [one, two] = [fake.ec2.add('4-7'), fake.ec2.add('4-7')]
  fake.ec2.fails('machines', 'throttled')
  fake.ec2.fails('terminate', 'unknown')
  fake.fleet.terminate('4-7')
  fake.fleet.terminate('4-7')
  await fake.settle()
  assert.deepEqual(fake.ec2.terminated, [one, two])
  fake.fleet.terminate('4-7')
  fake.fleet.terminate('unknown')
  await fake.settle()
  assert.deepEqual(fake.ec2.terminated, [one, two])
  assert.deepEqual(fake.log, [])
})

test('a termination that fails is logged with its reason', async () => {
  const fake = fakeFleet()
  fake.ec2.add('4-7')
  fake.ec2.fails('terminate', 'denied')
  fake.fleet.terminate('4-7')
  await fake.settle()
  assert.deepEqual(fake.log, ['fleet: terminate fails: denied'])
})

test('an instance that ends before its worker joined is a failed launch, and a lost worker afterwards', async () => {
  const fake = fakeFleet()
  fake.fleet.launch('5-1')
  fake.fleet.launch('5-2')
  await fake.settle()
  fake.fleet.joined('5-2')
  fake.ec2.ends('i-1', 'Client.InternalError')
  fake.ec2.ends('i-2')
  assert.deepEqual(await launchesOf(fake), [])
  await fake.fleet.list()
  assert.deepEqual(fake.told, [
    '5-1 failed: instance i-1: Client.InternalError',
    '5-2 gone: instance i-2: the instance was terminated',
  ])
})

test('a termination that was asked for is not reported', async () => {
  const fake = fakeFleet()
  fake.fleet.launch('5-1')
  await fake.settle()
  fake.fleet.terminate('5-1')
  await fake.settle()
  await fake.fleet.list()
  assert.deepEqual(fake.told, [])
})

test('the end of an instance that an earlier balancer left is reported', async () => {
  const left = [{ id: 'i-1', launch: '4-1', isEnded: false, since: 500 }]
  const fake = fakeFleet({ left })
  fake.ec2.add('4-1')
  fake.fleet.joined('4-1')
  fake.ec2.ends('i-1')
  await fake.fleet.list()
  assert.deepEqual(fake.told, ['4-1 gone: instance i-1: the instance was terminated'])
})

test('a list that AWS refuses rejects, so that nobody takes it for an empty fleet', async () => {
  const fake = fakeFleet()
  fake.ec2.fails('machines', 'throttled')
  await assert.rejects(fake.fleet.list(), /machines fails: throttled/)
})

test('closing ends all instances of the cluster, and waits for launches whose outcome is unknown', async () => {
  const fake = fakeFleet()
  fake.ec2.add('4-7')
  fake.holdPauses()
  fake.ec2.fails('run', 'unknown', true)
  fake.fleet.launch('5-1')
  await fake.settle()
  const closing = fake.fleet.close()
  fake.fleet.launch('5-2')
  fake.ec2.fails('machines', 'throttled')
  fake.resume()
  await closing
  assert.deepEqual(fake.ec2.alive(), [])
  assert.equal(fake.ec2.isClosed, true)
  assert.deepEqual(fake.log, [])
  await fake.fleet.close()
})

test('closing names the instances that it could not end', async () => {
  const fake = fakeFleet()
  const id = fake.ec2.add('4-7')
  for (let i = 0; i < 120; i++) fake.ec2.fails('terminate', 'denied')
  await fake.fleet.close()
  assert.deepEqual(fake.log, [
    `fleet: instances ${id} may be left; terminate them with the AWS CLI: terminate fails: denied`,
  ])
})
