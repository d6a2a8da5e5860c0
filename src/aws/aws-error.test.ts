import assert from 'node:assert/strict'
import { test } from 'node:test'
import { awsError } from './aws-error.ts'

const call = { action: 'ec2:RunInstances', resource: 'image ami-1', region: 'eu-west-1' }
const errorWith = (name: string, message: string, status = 400) =>
  Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } })

test('errors say in one sentence which action of which resource failed, and what to do', () => {
  const denied = errorWith(
    'UnauthorizedOperation',
    'You are not authorized to perform this operation. Encoded authorization failure message: abc',
    403,
  )
  assert.equal(
    awsError(denied, call).message,
    'ec2:RunInstances of image ami-1 in eu-west-1: the credentials do not allow this action; add it to the policy of their role or user (UnauthorizedOperation: You are not authorized to perform this operation.)',
  )
})

test('errors are told apart by what the caller does next', () => {
  const kinds: Record<string, Error> = {
    throttled: errorWith('RequestLimitExceeded', 'Request limit exceeded.', 503),
    capacity: errorWith('InsufficientInstanceCapacity', 'no capacity'),
    gone: errorWith('InvalidInstanceID.NotFound', 'no such instance'),
    expired: errorWith('ExpiredToken', 'expired'),
    credentials: Object.assign(new Error('Could not load credentials'), { name: 'CredentialsProviderError' }),
    region: new Error('Region is missing'),
    rejected: errorWith('InvalidAMIID.NotFound', 'no such image'),
    unknown: Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
  }
  for (const [kind, error] of Object.entries(kinds)) assert.equal(awsError(error, call).kind, kind)
})

test('after a server error or a broken connection, the outcome is unknown', () => {
  assert.equal(awsError(errorWith('Oops', 'internal', 500), call).kind, 'unknown')
  assert.equal(awsError(new Error('socket hang up'), call).kind, 'unknown')
})
