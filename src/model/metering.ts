/** Whether and how jobs are metered, and what of their work is told while they run. */
import { ConfigError } from '../lib/errors.ts'

import { checkFormula, type Formula, type Metric, metrics, type Tally } from './metrics.ts'

/** `work`: one number. `regions`: how often each region ran. `routines`: entries of functions × their static cost. */
export type MeterMode = 'work' | 'regions' | 'routines'

/** Off: work is CPU time, in microseconds. */
export type MeterSetting = ({ mode: MeterMode; formula: Formula } & MeterExtras) | 'off'

/** What some meters do besides. Plain data: workers are told it as JSON. */
export interface MeterExtras {
  /**
   * By workload, what one of the steps costs that it counts itself (`ctx.steps`): for code that is too tight to be counted.
   * No counters are put into it, and steps are all that counts.
   */
  steps?: Readonly<Record<string, Tally>>
  /** Sums of metrics that answers carry in headers of their own. */
  quantities?: readonly Quantity[]
}

export interface Quantity {
  name: string
  header: string
  metrics: readonly Metric[]
}

/** How much of each quantity, by name. */
export type Quantities = Readonly<Record<string, number>>

export function quantitiesIn(meter: MeterSetting): readonly Quantity[] {
  return meter === 'off' ? [] : (meter.quantities ?? [])
}

/** The metrics of a quantity, added up. */
export function amountOf({ metrics: parts }: Quantity, tally: Tally): number {
  return parts.reduce((sum, metric) => sum + (tally[metric] ?? 0), 0)
}

/** What a worker tells of running jobs, besides what placing them needs. Without a field: nothing. */
export interface Following {
  /** How far a job is, each time it has done so much more work. */
  progressEvery?: number
  /** What was counted, each time work, or one of the metrics named, has grown by so much. */
  metricsEvery?: number | Tally
  /** True: the ledger has a row of metrics for each request from its start on. */
  fromStart?: boolean
}

/** What is asked for. Refuses by name what the meter cannot tell. */
export function followingOf(
  { progressEvery, metricsEvery, fromStart }: Following,
  meter: MeterSetting,
): Following {
  const wrong = (option: string, value: unknown, must: string) =>
    new ConfigError(`${option} = ${JSON.stringify(value)}: ${must}`)
  const isAmount = (value: unknown) => typeof value === 'number' && value > 0 && value < Infinity
  for (const [option, value] of Object.entries({ progressEvery, metricsEvery })) {
    if (value !== undefined && meter === 'off') throw wrong(option, value, 'needs a meter, which is off')
  }
  if (progressEvery !== undefined && !isAmount(progressEvery)) {
    throw wrong('progressEvery', progressEvery, 'must be an amount of work, above 0')
  }
  if (typeof metricsEvery === 'object' && metricsEvery !== null) {
    const named = Object.entries(metricsEvery)
    const known = named.every(([name, amount]) => metrics.includes(name as Metric) && isAmount(amount))
    if (named.length === 0 || !known) {
      throw wrong('metricsEvery', metricsEvery, `must give amounts above 0 of ${metrics.join(', ')}`)
    }
    if (meter !== 'off' && meter.mode !== 'regions') {
      throw wrong('metricsEvery', metricsEvery, `needs the meter's mode regions, not ${meter.mode}`)
    }
  } else if (metricsEvery !== undefined && !isAmount(metricsEvery)) {
    throw wrong('metricsEvery', metricsEvery, 'must be an amount of work, above 0, or of metrics')
  }
  return {
    ...(progressEvery !== undefined && { progressEvery }),
    ...(metricsEvery !== undefined && { metricsEvery }),
    ...(fromStart && { fromStart }),
  }
}

export function checkMeter(meter: MeterSetting): MeterSetting {
  if (meter === 'off') return meter
  const { mode, formula, steps = {}, quantities = [] } = meter
  checkFormula(formula)
  for (const tally of Object.values(steps)) checkFormula(tally)
  for (const { name, metrics: parts } of quantities) {
    if (mode !== 'regions')
      throw new ConfigError(`meter: ${name} needs the meter's mode regions, not ${mode}`)
    checkFormula(Object.fromEntries(parts.map((metric) => [metric, 1])))
  }
  return meter
}

/** The command-line options of a worker that meters so. */
export function meterFlags(meter: MeterSetting): string[] {
  if (meter === 'off') return ['--meter', 'off']
  const { mode, formula, steps, quantities } = meter
  const extras = { ...(steps && { steps }), ...(quantities && { quantities }) }
  const more = Object.keys(extras).length > 0 ? ['--meter-extras', JSON.stringify(extras)] : []
  return ['--meter', mode, '--formula', formulaText(formula), ...more]
}

/** For command lines: instructions=1,stores=0.5. */
export function formulaText(formula: Formula): string {
  return Object.entries(formula)
    .map(([metric, coefficient]) => `${metric}=${coefficient}`)
    .join(',')
}
