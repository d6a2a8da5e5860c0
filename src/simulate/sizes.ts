/** Distributions of job sizes, in seconds of a nominal core, with their means. */

import { readFileSync } from 'node:fs'
import { ConfigError } from '../lib/errors.ts'
import type { Random } from '../lib/random.ts'
import { mean } from './summary.ts'

export interface Sizes {
  readonly name: string
  readonly meanSeconds: number
  draw(random: Random): number
}

/** Bounded Pareto. The default is the heavy tail that the project's figures use: 10 ms to 10 min. */
export function pareto(alpha = 1.1, low = 0.01, high = 600): Sizes {
  const tail = (low / high) ** alpha
  const scale = (alpha * low ** alpha) / (1 - tail)
  const meanSeconds =
    alpha === 1
      ? scale * Math.log(high / low)
      : (scale / (1 - alpha)) * (high ** (1 - alpha) - low ** (1 - alpha))
  return {
    name: 'pareto',
    meanSeconds,
    draw: (random) => low / (1 - random.next() * (1 - tail)) ** (1 / alpha),
  }
}

/** Lognormal. The default has a mean of 1 s and a median of 135 ms. */
export function lognormal(mu = -2, sigma = 2): Sizes {
  return {
    name: 'lognormal',
    meanSeconds: Math.exp(mu + (sigma * sigma) / 2),
    draw: (random) => Math.exp(mu + sigma * random.normal()),
  }
}

/** Short jobs, and a few long ones. */
export function bimodal(short = 0.02, long = 20, shareOfLong = 0.01): Sizes {
  return {
    name: 'bimodal',
    meanSeconds: short * (1 - shareOfLong) + long * shareOfLong,
    draw: (random) => (random.next() < shareOfLong ? long : short),
  }
}

export function exponential(meanSeconds = 1): Sizes {
  return { name: 'exponential', meanSeconds, draw: (random) => meanSeconds * random.exponential() }
}

/** Drawn from a file with one size in seconds per line. */
export function sizesFromFile(path: string): Sizes {
  return drawnFrom(path, numbersFromFile(path, 'sizes'))
}

/** Draws uniformly from the given sizes in seconds. */
export function drawnFrom(name: string, seconds: ArrayLike<number>): Sizes {
  return {
    name,
    meanSeconds: mean(seconds),
    draw: (random) => seconds[random.below(seconds.length)]!,
  }
}

/** One number per line, each 0 or more; blank lines and lines that begin with # are skipped. */
export function numbersFromFile(path: string, option: string): number[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`${option} = ${path}: cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const values: number[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const value = Number(line)
    if (!(value >= 0 && value < Infinity)) {
      throw new ConfigError(
        `${option} = ${path}: line ${index + 1} is "${line.slice(0, 40)}", must be a number, 0 or more`,
      )
    }
    values.push(value)
  }
  if (values.length === 0) throw new ConfigError(`${option} = ${path}: holds no numbers`)
  return values
}
