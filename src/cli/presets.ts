import { styleText } from 'node:util'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { presets as all, presetOf } from '../systems/presets.ts'
import { rulesOf } from '../systems/rules.ts'
import { type Command, readOptions } from './options.ts'
import { table } from './terminal/table.ts'
import { fitted, terminalWidth } from './terminal/width.ts'

const options = {
  json: { type: 'flag', help: 'print JSON instead of text' },
} as const

/** The presets of `up --preset`. */
export const presets: Command = {
  summary: 'List the presets, or describe one preset with all its rules.',
  usage: '[PRESET] [options]',
  options,
  async run(args) {
    const { values, rest } = readOptions(args, options)
    const [name, ...more] = rest
    if (more.length > 0) throw new ConfigError(`presets: unexpected ${more.join(' ')}`)
    if (name !== undefined) oneOf('preset', name, all)
    const names = name === undefined ? Object.keys(all) : [name]
    const list = names.map((each) => ({
      name: each,
      ...presetOf(each),
      rules: Object.fromEntries(rulesOf(each)),
    }))
    if (values.json) console.log(JSON.stringify(list))
    else console.log(list.map((preset) => text(preset, name !== undefined)).join('\n\n'))
    return 0
  },
}

type Told = ReturnType<typeof presetOf> & { name: string; rules: Record<string, string> }

/** On narrow terminals the lines are wrapped again. */
function paragraph(lines: readonly string[]): string[] {
  const isNarrow = lines.some(({ length }) => length + 2 > terminalWidth())
  return isNarrow ? [`  ${fitted(lines.join(' '), 2)}`] : lines.map((line) => `  ${line}`)
}

function text({ name, description, about = [], rules, ...preset }: Told, whole: boolean): string {
  const { scheduler, discipline, scale, estimator, trial, simulatedMax } = preset
  const live = simulatedMax ? ", simulated; live at most the machine's cores" : ''
  const bounds = scale && `${scale.min} to ${scale.max} workers${live}`
  const made = [
    ['placing', scheduler],
    ['workers run', discipline],
    ['scaling', scale ? `${scale.policy}, ${bounds}` : 'as `up` says'],
    ['estimates', estimator?.rule ?? 'learned'],
    ...(trial
      ? [
          [
            'try it',
            `plimsoll up --preset ${name} --time-scale ${trial.timeScale} --work-scale ${trial.workScale}`,
          ],
        ]
      : []),
  ]
  const title = styleText('bold', name, { stream: process.stdout })
  return [
    title,
    `  ${fitted(description, 2)}`,
    ...paragraph(about),
    ...made.map(([what = '', is = '']) => `  ${what.padEnd(12)} ${fitted(is, 15)}`),
    ...(whole && Object.keys(rules).length > 0
      ? ['', table(['rule', 'what it says'], Object.entries(rules), [0, 1])]
      : []),
  ].join('\n')
}
