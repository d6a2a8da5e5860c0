/** One checkout of the project: finds the modules that the comparison needs, wherever they are, and imports them. */

import { globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as arrivals from '../../src/simulate/arrivals.ts'
import type * as chaos from '../../src/simulate/chaos.ts'
import type * as presetRun from '../../src/simulate/preset-run.ts'
import type * as simulate from '../../src/simulate/simulate.ts'
import type * as sizes from '../../src/simulate/sizes.ts'
import { inverse, renameFields } from './normalise.ts'
import type { Renames } from './renames.ts'

export interface Checkout
  extends Pick<typeof chaos, 'chaos'>,
    Pick<typeof simulate, 'simulate' | 'unitsPerSecond'>,
    Pick<typeof arrivals, 'poisson' | 'bursty'>,
    Pick<typeof sizes, 'lognormal' | 'pareto'>,
    Pick<typeof presetRun, 'presetRun'> {
  /** Names of all policies of a kind. */
  schedulers: readonly string[]
  scalers: readonly string[]
  presets: readonly string[]
}

type Registries = Record<'schedulers' | 'scalers' | 'presets', object>

/** Brain descriptions are translated from the new names of `settings` to the old ones. */
export async function openCheckout(root: string, settings: Renames['settings']): Promise<Checkout> {
  const simulator = (name: string) => [`src/simulate/${name}.ts`, `src/**/${name}.ts`]
  const policies = (name: string, registry: string) => [
    `src/systems/${registry}.ts`,
    `src/brain/${name}/index.ts`,
    `src/${name}/index.ts`,
  ]
  const { chaos } = await load<Checkout>(root, ['chaos'], simulator('chaos'))
  const { simulate, unitsPerSecond } = await load<Checkout>(
    root,
    ['simulate', 'unitsPerSecond'],
    simulator('simulate'),
  )
  const { poisson, bursty } = await load<Checkout>(root, ['poisson', 'bursty'], simulator('arrivals'))
  const { lognormal, pareto } = await load<Checkout>(root, ['lognormal', 'pareto'], simulator('sizes'))
  const { presetRun } = await load<Checkout>(root, ['presetRun'], simulator('preset-run'))
  const { schedulers } = await load<Registries>(root, ['schedulers'], policies('schedule', 'schedulers'))
  const { scalers } = await load<Registries>(root, ['scalers'], policies('scale', 'scalers'))
  const { presets } = await load<Registries>(root, ['presets'], policies('presets', 'presets'))
  const names = inverse(settings)
  return {
    chaos: (scheduler, seed, { log, ...options } = {}) =>
      chaos(scheduler, seed, { ...renameFields(options, names), ...(log && { log }) }),
    simulate: (spec, hooks) => simulate({ ...spec, brain: renameFields(spec.brain, names) }, hooks),
    ...{ unitsPerSecond, poisson, bursty, lognormal, pareto, presetRun },
    schedulers: Object.keys(schedulers),
    scalers: Object.keys(scalers),
    presets: Object.keys(presets),
  }
}

/** The first module among the candidates that exports all the names. */
async function load<T>(root: string, exports: readonly string[], candidates: readonly string[]): Promise<T> {
  for (const path of candidates.flatMap((pattern) => globSync(pattern, { cwd: root }).sort())) {
    const module = await import(pathToFileURL(join(resolve(root), path)).href)
    if (exports.every((name) => name in module)) return module
  }
  throw new Error(`${root}: no module among ${candidates.join(', ')} exports ${exports.join(' and ')}`)
}
