/** The options that say how work is counted. */

import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import {
  checkMeter,
  formulaText,
  type MeterExtras,
  type MeterMode,
  type MeterSetting,
} from '../model/metering.ts'
import { checkFormula, defaultFormula, type Formula } from '../model/metrics.ts'
import type { OptionValues } from './options.ts'

const modes: Readonly<Record<MeterMode | 'off', MeterMode | 'off'>> = {
  work: 'work',
  regions: 'regions',
  routines: 'routines',
  off: 'off',
}

export const meterOptions = {
  meter: {
    help:
      'how work is counted: work (one number), regions (metric by metric, slower), ' +
      'routines (calls of functions, coarse) or off (it is CPU time); default: as the preset says, or work',
    default: undefined,
    value: 'MODE',
  },
  formula: {
    help: `what counts as work, and how much: METRIC=COEFFICIENT,…; default: as the preset says, or ${formulaText(defaultFormula)}`,
    default: undefined,
    value: 'TERMS',
  },
} as const

/** Workers and functions are told the rest by the cluster that starts them. */
export const meterExtrasOption = {
  'meter-extras': { help: 'set by the cluster that starts it', default: undefined, value: 'JSON' },
} as const

export function meterFrom(
  {
    meter,
    formula,
    'meter-extras': extras,
  }: OptionValues<typeof meterOptions> & Partial<OptionValues<typeof meterExtrasOption>>,
  preset: MeterSetting = { mode: 'work', formula: defaultFormula },
): MeterSetting {
  const { mode: usualMode, formula: usualFormula, ...more } = preset === 'off' ? off : preset
  const usual = { mode: usualMode, formula: usualFormula }
  const mode = oneOf('--meter', meter ?? usual.mode, modes)
  const read = formula === undefined ? usual.formula : readFormula(formula)
  const given = extras === undefined ? more : (JSON.parse(extras) as MeterExtras)
  return mode === 'off' ? 'off' : checkMeter({ mode, formula: read, ...given })
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
