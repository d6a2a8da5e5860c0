import assert from 'node:assert/strict'
import { test } from 'node:test'
import { functionTrouble, serviceTrouble } from './outcome.ts'

const ofFunction = (errorType: string, errorMessage: string) =>
  functionTrouble('f', Buffer.from(JSON.stringify({ errorType, errorMessage }))).kind

const ofService = (name: string, status: number, message = '') =>
  serviceTrouble('f', Object.assign(new Error(message), { name, $metadata: { httpStatusCode: status } })).kind

test('CN-6 rate limits, 429, 503 and read timeouts pass soon', () => {
  assert.equal(ofService('TooManyRequestsException', 429), 'throttled')
  assert.equal(ofService('ThrottlingException', 400), 'throttled')
  assert.equal(ofService('Error', 400, 'Rate Exceeded'), 'throttled')
  assert.equal(ofService('EC2ThrottledException', 502), 'throttled')
  assert.equal(ofService('ServiceException', 503), 'refused')
  assert.equal(serviceTrouble('f', new DOMException('late', 'TimeoutError')).kind, 'timeout')
  assert.equal(serviceTrouble('f', Object.assign(new Error(), { code: 'ETIMEDOUT' })).kind, 'timeout')
  assert.equal(
    ofFunction('Sandbox.Timedout', 'RequestId: 1 Error: Task timed out after 3.00 seconds'),
    'timeout',
  )
  assert.equal(ofFunction('Error', 'Rate Exceeded'), 'throttled')
})

test('a job that needs more memory or a longer answer than a function has is for workers', () => {
  assert.equal(ofService('RequestTooLargeException', 413), 'limit')
  assert.equal(ofFunction('Runtime.OutOfMemory', ''), 'limit')
  assert.equal(ofFunction('Runtime.ExitError', 'Runtime exited with error: signal: killed'), 'limit')
  assert.equal(ofFunction('Function.ResponseSizeTooLarge', ''), 'limit')
})

test('all other failures need an operator, and their message names action, resource and reason', () => {
  assert.equal(ofFunction('Runtime.ExitError', 'Runtime exited with error: exit status 3'), 'broken')
  assert.equal(ofFunction('Runtime.ImportModuleError', 'Cannot find module'), 'broken')
  assert.equal(functionTrouble('f', Buffer.from('<html>')).kind, 'broken')
  assert.equal(ofService('ServiceException', 500), 'broken')
  const message = (name: string, text: string) =>
    serviceTrouble('cnv-dna', Object.assign(new Error(text), { name })).message
  assert.equal(
    message('ResourceNotFoundException', 'Function not found'),
    'lambda:InvokeFunction on function cnv-dna: the account has no such function in this region (ResourceNotFoundException: Function not found)',
  )
  assert.match(
    message('AccessDeniedException', 'x'),
    /the role or user of the balancer lacks this permission/,
  )
  assert.match(message('ExpiredTokenException', 'x'), /the AWS credentials have expired/)
  assert.match(message('UnrecognizedClientException', 'x'), /AWS does not know these credentials/)
  assert.match(message('CredentialsProviderError', 'x'), /no AWS credentials were found/)
  assert.match(message('Error', 'Region is missing'), /no AWS region is set: set AWS_REGION$/)
})
