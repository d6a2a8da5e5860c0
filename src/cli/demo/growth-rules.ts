/** When the scaling rule of each published system demands more workers, judged by the state of the cluster. */

import type { ClusterState } from '../../live/cluster.ts'
import { usualClasses } from '../../systems/cloudprime/classes.ts'
import { usualEveryMs as cnvEveryMs } from '../../systems/cnv/cpu-ema.ts'
import { usualEveryMs as ecoworkEveryMs } from '../../systems/ecowork/cpu-step.ts'
import { usualEveryMs as hillclimbingEveryMs } from '../../systems/hillclimbing/average-work.ts'
import { cappedDefaults } from '../../systems/hillclimbing/least-work-capped.ts'
import type { Preset } from '../../systems/preset.ts'
import { tierDefaults } from '../../systems/tiered/tiers.ts'

/** The part of a cluster's state that rules read. */
export interface FleetState extends Pick<ClusterState, 'ready' | 'booting' | 'waiting' | 'scaling'> {
  workers: readonly Pick<ClusterState['workers'][number], 'state' | 'cpu' | 'outstanding' | 'figures'>[]
}

export interface GrowthRule {
  /** The rule in words. */
  words: string
  demands(state: FleetState): boolean
  /** How long it may demand workers before the policy acts, without the delays of a busy machine. */
  withinMs: number
}

type Rule = (preset: Pick<Preset, 'scale' | 'placing'>) => GrowthRule

const rules: Readonly<Record<string, Rule>> = {
  // CP-10: a request that fits nowhere starts a worker, others wait for the grace period and are placed again.
  'on-misfit': ({ placing }) => ({
    words: 'a request that fits nowhere starts a worker, or waits for the grace period',
    demands: ({ waiting }) => waiting.length > 0,
    withinMs: placing?.classes?.graceMs ?? usualClasses.graceMs,
  }),
  // TI-5
  'queue-length': ({ scale }) => {
    const { perServer, everyMs } = { ...tierDefaults, ...scale?.tiers }
    return {
      words: `more than ${perServer} requests are queued for each server`,
      // The coordinator is a server too. Below one more server the excess is rounded to none.
      demands: ({ waiting, ready, booting }) =>
        waiting.length >= perServer * (1 + ready + booting.length) + 1,
      withinMs: everyMs,
    }
  },
  // CN-11
  'cpu-ema': ({ scale }) => ({
    words: 'smoothed CPU is above 85 % for two looks in a row, and requests are queued',
    demands: ({ waiting, scaling }) => waiting.length > 0 && Number(scaling.looksAbove) >= 2,
    withinMs: scale?.everyMs ?? cnvEveryMs,
  }),
  // HC-5 and HC-8
  'average-work': ({ scale }) => {
    const mostWork = scale?.mostWork ?? cappedDefaults.mostWork
    return {
      words: 'a request fits nowhere, or the mean work is above 70 % of the limit and no worker is fresh',
      demands: ({ waiting, workers }) => {
        if (waiting.length > 0) return true
        const unmarked = workers.filter(({ state }) => state === 'ready')
        const isFresh = unmarked.some(({ cpu }) => cpu === null || cpu === 0)
        const work = unmarked.reduce((sum, { outstanding }) => sum + outstanding, 0)
        return !isFresh && unmarked.length > 0 && work > 0.7 * mostWork * unmarked.length
      },
      withinMs: scale?.everyMs ?? hillclimbingEveryMs,
    }
  },
  // EW-7
  'cpu-step': ({ scale }) => ({
    words: 'mean CPU is above 85 %, and no earlier step is unfinished',
    demands: ({ scaling }) => Number(scaling.averageCpu) > 0.85 && scaling.batch === 0,
    withinMs: scale?.everyMs ?? ecoworkEveryMs,
  }),
}

/** Undefined: the preset does not scale by a rule of a published system. */
export function growthRuleOf(preset: Pick<Preset, 'scale' | 'placing'>): GrowthRule | undefined {
  return rules[preset.scale?.policy ?? '']?.(preset)
}
