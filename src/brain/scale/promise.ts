/** A service level in words: slowdowns, deadlines, and a budget that takes precedence over both. */

import { ConfigError } from '../../lib/errors.ts'

export interface UserPromise {
  /** Of the shortest jobs (`share` of all), `percent` percent have at most this slowdown. */
  short: { share: number; slowdown: number; percent: number }
  /** The largest jobs (`share` of all) have at most this slowdown on average. */
  largest: { share: number; slowdown: number }
  /** This percentage of the jobs with a deadline meet it; undefined: nothing is promised. */
  deadlinesPercent?: number
  /** Maximum cost per hour. */
  budgetPerHour?: number
}

export const usualPromise: UserPromise = {
  short: { share: 0.9, slowdown: 1.5, percent: 99 },
  largest: { share: 0.01, slowdown: 1.5 },
}

const number = String.raw`(\d+(?:\.\d+)?)`
const forms: readonly [RegExp, (promise: UserPromise, values: number[]) => UserPromise][] = [
  [
    new RegExp(`^shortest ${number} ?%: (?:slowdown )?at most ${number} at p${number}$`),
    (promise, [share, slowdown, percent]) => ({
      ...promise,
      short: { share: share! / 100, slowdown: slowdown!, percent: percent! },
    }),
  ],
  [
    new RegExp(`^largest ${number} ?%: (?:slowdown )?at most ${number} on average$`),
    (promise, [share, slowdown]) => ({
      ...promise,
      largest: { share: share! / 100, slowdown: slowdown! },
    }),
  ],
  [
    new RegExp(`^deadlines?: (?:met )?${number} ?%$`),
    (promise, [percent]) => ({ ...promise, deadlinesPercent: percent! }),
  ],
  [
    new RegExp(`^budget: (?:at most )?${number} (?:an|per) hour$`),
    (promise, [money]) => ({ ...promise, budgetPerHour: money! }),
  ],
]

const example =
  'parts like "shortest 90 %: slowdown at most 1.5 at p99", "largest 1 %: at most 1.5 on average", "deadlines: 99 %" or "budget: 5 an hour", separated by semicolons'

/** Parts that the text leaves out have their defaults. */
export function promiseOf(text: string | undefined): UserPromise {
  if (text === undefined) return usualPromise
  let promise = usualPromise
  for (const part of text.split(';')) {
    const words = part.trim().toLowerCase().replace(/\s+/g, ' ')
    const form = forms.find(([pattern]) => pattern.test(words))
    if (!form) throw wrong(part.trim(), example)
    promise = form[1](promise, form[0].exec(words)!.slice(1).map(Number))
  }
  check(promise)
  return promise
}

function check({ short, largest, deadlinesPercent = 50, budgetPerHour = 1 }: UserPromise): void {
  if (!(short.share > 0 && short.share <= 1))
    throw wrong(`shortest ${short.share * 100} %`, 'above 0 and at most 100 %')
  if (!(largest.share > 0 && largest.share <= 1))
    throw wrong(`largest ${largest.share * 100} %`, 'above 0 and at most 100 %')
  if (!(short.percent > 0 && short.percent < 100)) throw wrong(`p${short.percent}`, 'above p0 and below p100')
  for (const { slowdown } of [short, largest])
    if (!(slowdown > 1)) throw wrong(`slowdown at most ${slowdown}`, 'above 1 (1 is no waiting at all)')
  if (!(deadlinesPercent > 0 && deadlinesPercent < 100))
    throw wrong(`deadlines: ${deadlinesPercent} %`, 'above 0 and below 100 %')
  if (!(budgetPerHour > 0)) throw wrong(`budget: ${budgetPerHour} an hour`, 'above 0')
}

function wrong(value: string, allowed: string): ConfigError {
  return new ConfigError(`scale.promise = ${value}: must be ${allowed}`)
}
