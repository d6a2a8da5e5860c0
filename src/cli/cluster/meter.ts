/** Metering options. */

import type { meterOptions } from '../../config/cluster-options.ts'
import type { OptionSpecs, OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { checkMeter, type MeterExtras, type MeterMode, type MeterSetting } from '../../model/metering.ts'
import { checkFormula, defaultFormula, type Formula } from '../../model/metrics.ts'

/** The cluster passes the rest to the workers and functions that it starts. */
export const meterExtrasOption = {
  meterExtras: { type: 'text', help: 'set by the cluster that starts it', value: 'JSON' },
} as const satisfies OptionSpecs

export function meterFrom(
  {
    meter,
    formula,
    meterOnly,
    meterExtras: extras,
  }: OptionValues<typeof meterOptions> & Partial<OptionValues<typeof meterExtrasOption>>,
  preset: MeterSetting = { mode: 'work', formula: defaultFormula },
): MeterSetting {
  const { mode: usualMode, formula: usualFormula, ...more } = preset === 'off' ? off : preset
  const usual = { mode: usualMode, formula: usualFormula }
  const mode = (meter ?? usual.mode) as MeterMode | 'off'
  const read = formula === undefined ? usual.formula : readFormula(formula)
  const given: MeterExtras = extras === undefined ? more : JSON.parse(extras)
  if (mode !== 'off') {
    const { only, ...others } = given
    const counted = meterOnly === undefined ? only : readOnly(meterOnly)
    return checkMeter({ mode, formula: read, ...others, ...(counted && { only: counted }) })
  }
  if (meterOnly !== undefined)
    throw new ConfigError(`--meter-only = ${meterOnly}: needs a meter, which is off`)
  return 'off'
}

/** The code whose work counts, by workload. Undefined: `all`. */
function readOnly(text: string): NonNullable<MeterExtras['only']> | undefined {
  if (text === 'all') return undefined
  const lists = text.split(',').map((term) => {
    const [workload = '', list = '', ...more] = term.split('=').map((part) => part.trim())
    const code = list.split('+').map((part) => part.trim())
    if (workload === '' || more.length > 0 || code.some((part) => part === '')) {
      throw new ConfigError(
        `--meter-only = ${text}: ${term}: must be WORKLOAD=MODULE+MODULE, or all in place of the list`,
      )
    }
    return [workload, code] as const
  })
  return Object.fromEntries(lists)
}

const off = { mode: 'off', formula: defaultFormula } as const

function readFormula(text: string): Formula {
  const terms = text.split(',').map((term) => {
    const [metric = '', coefficient = '', ...more] = term.split('=')
    if (coefficient.trim() === '' || more.length > 0) {
      throw new ConfigError(`--formula = ${text}: ${term}: must be METRIC=COEFFICIENT`)
    }
    return [metric.trim(), Number(coefficient)] as const
  })
  return checkFormula(Object.fromEntries(terms))
}
