/** How jobs are metered, and what workers report while they run. */
import { ConfigError } from '../lib/errors.ts'

import { checkFormula, type Formula, type Metric, metrics, type Tally } from './metrics.ts'

/** `work`: one number. `regions`: how often each region ran. `routines`: function calls × their static cost. */
export type MeterMode = 'work' | 'regions' | 'routines'

/** `off`: work is CPU time, in microseconds. */
export type MeterSetting = ({ mode: MeterMode; formula: Formula } & MeterExtras) | 'off'

/** Additional settings of a meter, sent to workers as JSON. */
export interface MeterExtras {
  /**
   * The cost of one step of a workload that counts its own steps (`ctx.steps`), for loops too tight for counters. Its code
   * is not instrumented; only steps count.
   */
  steps?: Readonly<Record<string, Tally>>
  /**
   * The code whose work counts, by workload; other workloads count all of theirs. Replaces what the workload says itself
   * (`meter.only` of a workload).
   */
  only?: Readonly<Record<string, readonly string[]>>
  /** Sums of metrics that answers carry in separate headers. */
  quantities?: readonly Quantity[]
}

export interface Quantity {
  name: string
  header: string
  metrics: readonly Metric[]
}

/** Amounts by name of the quantity. */
export type Quantities = Readonly<Record<string, number>>

export function quantitiesIn(meter: MeterSetting): readonly Quantity[] {
  return meter === 'off' ? [] : (meter.quantities ?? [])
}

/** The sum of the quantity's metrics. */
export function amountOf({ metrics: parts }: Quantity, tally: Tally): number {
  return parts.reduce((sum, metric) => sum + (tally[metric] ?? 0), 0)
}

/** What a worker reports about running jobs beyond what scheduling needs. All off by default. */
export interface Following {
  /** Reports progress each time a job has done this much more work. */
  progressEvery?: number
  /** Reports the metrics each time work, or one of the named metrics, has grown by this much. */
  metricsEvery?: number | Tally
  /** True: the ledger gets a row of metrics when a request starts. */
  fromStart?: boolean
}

/** Rejects settings that the meter cannot report. Errors name the option. */
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

/** The flags of a worker with this setting. */
export function meterFlags(meter: MeterSetting): string[] {
  if (meter === 'off') return ['--meter', 'off']
  const { mode, formula, ...extras } = meter
  const more = Object.keys(extras).length > 0 ? ['--meter-extras', JSON.stringify(extras)] : []
  return ['--meter', mode, '--formula', formulaText(formula), ...more]
}

/** For the command line: instructions=1,stores=0.5. */
export function formulaText(formula: Formula): string {
  return Object.entries(formula)
    .map(([metric, coefficient]) => `${metric}=${coefficient}`)
    .join(',')
}
