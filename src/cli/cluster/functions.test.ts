import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  functionOptions,
  functionProviderOptions,
  priceOptions,
  scalingOptions,
} from '../../config/cluster-options.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { Money } from '../../story/money.ts'
import { readOptions } from '../options.ts'
import { moneyText } from '../simulation/money.ts'
import { functionsFrom, pricesFrom } from './functions.ts'

const read = (...args: string[]) =>
  readOptions(args, {
    ...priceOptions,
    ...functionOptions,
    ...functionProviderOptions,
    ...scalingOptions,
  }).values

test('uses no functions by default, and rejects them with an existing server', () => {
  assert.deepEqual(functionsFrom(read(), ['f'], 'plimsoll.config.ts'), {})
  assert.deepEqual(functionsFrom(read('--functions', '3'), ['f'], undefined), {
    functions: { most: 3, command: ['f'], waitingPerHour: 1 },
  })
  assert.throws(
    () => functionsFrom(read('--functions', '3'), ['f'], 'plimsoll.config.ts'),
    new ConfigError(
      '--functions = 3: cannot be combined with the existing server in plimsoll.config.ts; functions run workloads',
    ),
  )
})

test('Lambda runs functions under the names of the preset, or of the option', () => {
  const overflow = { concurrency: 4 }
  const named = (...args: string[]) =>
    functionsFrom(read('--functions', '3', ...args), ['f'], undefined, { overflow }).functions?.provider?.id
  assert.equal(named(), undefined)
  assert.equal(named('--function-provider', 'lambda'), 'function:lambda')
  assert.throws(
    () => named('--lambda-functions', 'f'),
    new ConfigError('--lambda-functions = f: requires --function-provider lambda'),
  )
  assert.throws(
    () => named('--function-provider', 'lambda', '--lambda-functions', 'a=b c'),
    new ConfigError('--lambda-functions = a=b c: b c: must be the name or ARN of a Lambda function'),
  )
})

test('reads prices, and times in seconds', () => {
  const values = read('--price-per-hour', '0.5', '--paid-minimum', '60', '--price-per-invocation', '0')
  assert.deepEqual(pricesFrom(values), {
    ...{ workerHour: 0.5, workerLeastMs: 60_000, workerStepMs: 1 },
    ...{ gbSecond: 0.0000166667, request: 0 },
  })
})

test('describes costs and savings', () => {
  const money: Money = {
    ...{ workers: 0.2, functions: 0.01, spent: 0.21, fixedAtPeak: 0.4, saved: 0.19, peakWorkers: 4 },
    ...{ workerHours: 2, functionGbSeconds: 600, functionRequests: 1 },
  }
  assert.equal(
    moneyText(money),
    '0.210 spent (2.00 worker-hours 0.200, functions 0.0100 for 1 job); 4 workers all the time would have cost 0.400: 0.190 saved',
  )
  assert.match(
    moneyText({ ...money, fixedAtPeak: 0.1, saved: -0.11 }),
    /would have cost 0\.100: 0\.110 more$/,
  )
  assert.equal(
    moneyText({ ...money, workers: 0, functions: 0, functionRequests: 0 }),
    '2.00 worker-hours; no price is set (--price-per-hour)',
  )
})
