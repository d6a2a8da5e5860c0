import { ConfigError } from '../errors.ts'
import { presets as all, presetOf } from '../presets/index.ts'
import { type Command, readOptions } from './options.ts'
import { table } from './table.ts'

const options = { json: { help: 'print JSON instead of a table', default: false } } as const

/** The presets that `up --preset` takes. */
export const presets: Command = {
  summary: 'List the presets: how a cluster may place and run its jobs.',
  usage: '[options]',
  options,
  run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length > 0) throw new ConfigError(`presets: unexpected ${rest.join(' ')}`)
    const list = Object.keys(all).map((name) => ({ name, ...presetOf(name) }))
    if (values.json) console.log(JSON.stringify(list))
    else {
      const rows = list.map(({ name, scheduler, discipline, description }) => [
        name,
        scheduler,
        discipline,
        description,
      ])
      console.log(table(['preset', 'policy', 'workers run', 'what it is'], rows, [0, 1, 2, 3]))
    }
    return 0
  },
}
