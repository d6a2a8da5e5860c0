import { maxQueryLimit } from '../ledger/ledger.ts'
import { ConfigError } from '../lib/errors.ts'
import { askedRows, rowsText } from './cluster/preset-rows.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { adminOptions } from './terminal/admin.ts'

const options = {
  preset: {
    type: 'text',
    help: 'the published system: cloudprime, cnv, hillclimbing or ecowork',
    value: 'NAME',
  },
  limit: {
    type: 'integer',
    help: 'maximum number of rows per workload',
    default: 20,
    min: 1,
    max: maxQueryLimit,
  },
  ...adminOptions,
  json: { type: 'flag', help: 'print JSON instead of tables' },
} as const

/** The table that a published system keeps of its requests. */
export const rows: Command = {
  summary: 'Show the stored requests as a published system lays them out in its own table.',
  usage: '--preset NAME [options]',
  options,
  async run(args) {
    const { preset, limit, json, ...admin } = readOnlyOptions('rows', args, options)
    if (preset === undefined) throw new ConfigError('rows requires --preset')
    const found = await askedRows(preset, admin, limit)
    console.log(json ? JSON.stringify(found) : rowsText(found))
    return 0
  },
}
