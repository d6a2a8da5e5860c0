import { open } from 'node:fs/promises'
import { ConfigError } from '../lib/errors.ts'
import { replay as replayLog } from '../simulate/replay.ts'
import { whyText } from '../story/document.ts'
import { whyFromLog } from '../story/from-log.ts'
import { loggedBrain } from '../systems/brain-spec.ts'
import { type Command, readOptions } from './options.ts'
import { terminalWidth } from './terminal/width.ts'

const options = {
  why: { type: 'text', help: 'print the story of this job instead', value: 'JOB' },
  json: { type: 'flag', help: 'print JSON' },
} as const

/** Replays an event log. */
export const replay: Command = {
  summary: 'Replay an event log through a fresh brain and compare its actions with the logged ones.',
  usage: 'FILE [options]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    if (rest.length !== 1) throw new ConfigError('replay: name one event log')
    const file = await open(rest[0]!).catch((error: NodeJS.ErrnoException) => {
      throw new ConfigError(`replay: ${rest[0]} cannot be read (${error.code})`)
    })
    try {
      if (values.why !== undefined) {
        const document = await whyFromLog(file.readLines(), values.why)
        console.log(values.json ? JSON.stringify(document) : whyText(document, terminalWidth()))
        return 0
      }
      const { header, events, actions, difference, gap } = await replayLog(file.readLines())
      const { scheduler, discipline } = loggedBrain(header)
      if (values.json)
        console.log(JSON.stringify({ scheduler, discipline, events, actions, difference, gap }))
      else if (difference) {
        console.log(
          `Line ${difference.line} differs.\n  logged    ${difference.logged}\n  replayed  ${difference.replayed}`,
        )
      } else {
        const until = gap
          ? ` Line ${gap.line} is a gap: ${gap.lost.toLocaleString('en-US')} entries could not be written, and nothing after them is compared.`
          : ''
        console.log(
          `${events.toLocaleString('en-US')} events, ${actions.toLocaleString('en-US')} actions: all the same (${scheduler}, ${discipline}).${until}`,
        )
      }
      return difference ? 1 : 0
    } finally {
      await file.close()
    }
  },
}
