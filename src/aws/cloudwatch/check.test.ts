import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AwsError, type AwsErrorKind } from '../aws-error.ts'
import { checkCloudWatch } from './check.ts'

const failing = (kind: AwsErrorKind) => ({
  cpu: () => Promise.reject(new AwsError(kind, `cloudwatch:GetMetricData: ${kind}`)),
})

test('credentials that may not read metrics are found at the start', async () => {
  await checkCloudWatch({ cpu: async () => [] }, 0)
  await assert.rejects(checkCloudWatch(failing('denied'), 0), {
    code: 'CONFIG',
    message: '--cpu = cloudwatch: cloudwatch:GetMetricData: denied',
  })
})

test('throttling and lost answers at the start are not mistakes of the configuration', async () => {
  await checkCloudWatch(failing('throttled'), 0)
  await checkCloudWatch(failing('unknown'), 0)
})
