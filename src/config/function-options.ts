/** Options of functions, and prices. */

import { usualPrices, usualWaitingHour } from '../model/prices.ts'
import { under } from './option.ts'

const maxPrice = 1e9

export const functionOptions = under('Functions', {
  functions: {
    type: 'integer',
    help: 'maximum number of concurrent functions for jobs that would queue; 0: none',
    default: 0,
    min: 0,
    max: 10_000,
  },
  priceOfWaiting: {
    type: 'number',
    help: 'value of one hour of waiting; a job goes to a function if that costs less',
    default: usualWaitingHour,
    min: 0,
    max: maxPrice,
    value: 'PRICE',
  },
})

/** Where functions of a live cluster run. */
export const functionProviderOptions = under('Functions', {
  functionProvider: {
    type: 'text',
    help: 'where functions run: as processes of this machine, or in AWS Lambda',
    default: 'local',
    choices: ['local', 'lambda'],
  },
  lambdaFunctions: {
    type: 'text',
    help: "Lambda functions: one name for all workloads, or WORKLOAD=NAME,…; default: the preset's, or plimsoll",
    value: 'NAMES',
  },
})

/** In any one currency. */
export const priceOptions = under('Prices', {
  pricePerHour: {
    type: 'number',
    help: 'price of a worker per hour; quotes then include a price; 0: none',
    default: 0,
    min: 0,
    max: maxPrice,
    value: 'PRICE',
  },
  pricePerGbSecond: {
    type: 'number',
    help: 'price of a function per GB of memory and second',
    default: usualPrices.gbSecond,
    min: 0,
    max: maxPrice,
    value: 'PRICE',
  },
  pricePerInvocation: {
    type: 'number',
    help: 'price of a function per job',
    default: usualPrices.request,
    min: 0,
    max: maxPrice,
    value: 'PRICE',
  },
})
