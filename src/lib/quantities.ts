/** Numbers in sentences for people: few digits, with units. */

// Created on first use: this takes a tenth of the start-up time of a command, and most commands never format a number.
let digits: Intl.NumberFormat | undefined
let large: Intl.NumberFormat | undefined

/** 3 digits, with commas. */
function short(value: number): string {
  digits ??= new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })
  return digits.format(value)
}

/** 1.2 million. */
function inWords(value: number): string {
  large ??= new Intl.NumberFormat('en-US', {
    notation: 'compact',
    compactDisplay: 'long',
    maximumSignificantDigits: 3,
  })
  return large.format(value)
}

type Quantity = string | number | undefined

/** 0 ms, 311 ms, 4.21 s, 2.5 min, 3 h. */
export function span(given: Quantity): string {
  const ms = Number(given)
  if (!Number.isFinite(ms)) return 'an unknown time'
  if (ms < 0.01) return '0 ms'
  if (ms < 999.5) return `${short(ms)} ms`
  if (ms < 119_500) return `${short(ms / 1000)} s`
  if (ms < 7_170_000) return `${short(ms / 60_000)} min`
  return `${short(ms / 3_600_000)} h`
}

/** Of work: 950, 1.2 million. */
export function amount(units: Quantity): string {
  const value = Number(units)
  return value < 10_000 ? Math.round(value).toLocaleString('en-US') : inWords(value)
}

/** A share or a multiple: 83 % of, 3.2 times. */
export function share(factor: number): string {
  if (factor < 1) return `${Number((factor * 100).toPrecision(2))} % of`
  return `${factor < 100 ? Number(factor.toPrecision(2)) : short(factor)} times`
}

/** 1 job, 3 jobs. */
export function count(given: Quantity, noun: string, plural = `${noun}s`): string {
  const value = Number(given)
  return `${value.toLocaleString('en-US')} ${value === 1 ? noun : plural}`
}

/** Rounds to a thousandth, for numbers in reasons. */
export function thousandths(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
