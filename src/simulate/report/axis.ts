/** Axes of plots: the position of a value between the ends, and the ticks. */

export interface Tick {
  value: number
  /** Empty: a grid line without a label. */
  label: string
}

export interface Axis {
  /** The quantity and its unit. */
  readonly title: string
  readonly ticks: readonly Tick[]
  /** From 0 to 1; values outside the axis are clamped. */
  part(value: number): number
}

export type Labels = (value: number) => string

/** Equal steps from `low` to at least `high`. */
export function linearAxis(title: string, low: number, high: number, label: Labels = plain): Axis {
  const step = roundStep((high > low ? high - low : 1) / 5)
  const last = low + step * Math.max(1, Math.ceil((high - low) / step - 1e-9))
  return between(title, low, last, ticksOf(low, last, step, label))
}

/** Time from 0 to exactly `endMs`, in the unit that suits it: `hours since …`. */
export function timeAxis(since: string, endMs: number): Axis {
  const units = [
    { ms: 86_400_000, name: 'days', steps: [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100] },
    { ms: 3_600_000, name: 'hours', steps: [0.25, 0.5, 1, 2, 4, 6, 12] },
    { ms: 60_000, name: 'minutes', steps: [0.25, 0.5, 1, 2, 5, 10, 20, 30] },
    { ms: 1000, name: 'seconds', steps: [0.2, 0.5, 1, 2, 5, 10, 20, 30] },
  ]
  const unit = units.find(({ ms }) => endMs >= 3 * ms) ?? { ms: 1, name: 'milliseconds', steps: [] }
  const most = 12
  const step = unit.steps.find((each) => endMs / (each * unit.ms) <= most) ?? roundStep(endMs / unit.ms / 6)
  const ticks = ticksOf(0, endMs, step * unit.ms, (ms) => plain(ms / unit.ms))
  return between(`${unit.name} ${since}`, 0, endMs, ticks)
}

/** A logarithmic axis. Ticks are the powers of ten and, if these are few, values between them. */
export function logAxis(title: string, low: number, high: number, label: Labels): Axis {
  const from = Math.log10(low)
  const to = Math.max(from + 1e-9, Math.log10(high))
  const decades = to - from
  // With many decades, only some have labels.
  const every = Math.ceil(decades / 7)
  const ticks: Tick[] = []
  for (let exponent = Math.floor(from); exponent <= Math.ceil(to); exponent++) {
    for (const digit of decades < 2.5 ? [1, 2, 5] : [1]) {
      const value = digit * 10 ** exponent
      if (value < low * 0.999 || value > high * 1.001) continue
      ticks.push({ value, label: exponent % every === 0 ? label(value) : '' })
    }
  }
  const part = (value: number) => clamp((Math.log10(Math.max(value, Number.MIN_VALUE)) - from) / (to - from))
  return { title, ticks, part }
}

/** The nearest powers of ten that enclose both values, at least a decade apart. */
export function wholeDecades(low: number, high: number): [number, number] {
  const first = Math.floor(Math.log10(low) + 1e-9)
  return [10 ** first, 10 ** Math.max(first + 1, Math.ceil(Math.log10(high) - 1e-9))]
}

/** 10⁻³; empty for other values. */
export function powerOfTen(value: number): string {
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹'
  const exponent = Math.round(Math.log10(value))
  if (Math.abs(value / 10 ** exponent - 1) > 1e-9) return ''
  return `10${[...String(exponent)].map((digit) => (digit === '-' ? '⁻' : digits[Number(digit)])).join('')}`
}

/** 50 ms, 2 s. */
export function time(ms: number): string {
  if (ms < 0.9995) return `${plain(ms * 1000)} µs`
  return ms < 999.5 ? `${plain(ms)} ms` : `${plain(ms / 1000)} s`
}

export function percent(share: number): string {
  return `${plain(share * 100)}\u00a0%`
}

/** Without the noise of floating point: 0.3, 1,200. */
export function plain(value: number): string {
  return Number(value.toPrecision(6)).toLocaleString('en-US', { maximumSignificantDigits: 6 })
}

function between(title: string, low: number, high: number, ticks: Tick[]): Axis {
  return { title, ticks, part: (value) => clamp((value - low) / (high - low)) }
}

function ticksOf(low: number, high: number, step: number, label: Labels): Tick[] {
  const count = Math.floor((high - low) / step + 1e-9)
  return Array.from({ length: count + 1 }, (_, i) => ({
    value: low + i * step,
    label: label(low + i * step),
  }))
}

/** The next of 1, 2, 5, 10, 20, … */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast))
  return power * [1, 2, 5, 10].find((digit) => digit * power >= atLeast * (1 - 1e-9))!
}

function clamp(part: number): number {
  return Math.min(1, Math.max(0, part))
}
