import { keeperProcess } from '../live/keeper/keeper-channel.ts'
import { type Command, readOnlyOptions } from './options.ts'

/** Stores accepted jobs and their answers. */
export const keeper: Command = {
  summary: 'Store accepted jobs and their answers; started by up.',
  usage: '',
  options: {},
  async run(args) {
    readOnlyOptions('keeper', args, {})
    return keeperProcess((line) => console.error(line))
  },
}
