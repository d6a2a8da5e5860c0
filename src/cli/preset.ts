/** The options that name a preset, and what it is made of, for `up` and `demo`. */

import { ConfigError } from '../lib/errors.ts'
import type { ClusterOptions } from '../live/cluster.ts'
import type { Preset } from '../systems/preset.ts'
import { presetOf, presets } from '../systems/presets.ts'
import type { OptionValues } from './options.ts'
import { bundledWorkloads, workloadFiles } from './workload-files.ts'

export const presetOptions = {
  preset: { help: `one of ${Object.keys(presets).join(', ')}`, default: 'plimsoll' },
  'time-scale': {
    help: "divides the preset's times: with 60 its minutes are seconds",
    default: 1,
    min: 0.001,
    max: 100_000,
  },
  'work-scale': { help: "divides the preset's amounts of work", default: 1, min: 1e-6, max: 1e9 },
} as const

export function presetFrom(values: OptionValues<typeof presetOptions>): Preset {
  return presetOf(values.preset, { timeScale: values['time-scale'], workScale: values['work-scale'] })
}

/** The modules that serve: those that were asked for, or those that the preset is about, or all that come along. */
export function filesFrom({ workloads }: { workloads: string | undefined }, preset: Preset): string[] {
  const files = workloadFiles(workloads ?? bundledWorkloads)
  if (workloads !== undefined || !preset.workloads) return files
  return preset.workloads.map((name) => {
    const file = files.find((each) => each.endsWith(`/${name}.ts`) || each.endsWith(`/${name}.js`))
    if (!file) throw new ConfigError(`preset: the workload ${name} does not come along`)
    return file
  })
}

/** What of a preset a cluster is told as it is. */
export function partsOf(
  preset: Preset,
): Pick<ClusterOptions, 'scheduler' | 'discipline'> & Partial<ClusterOptions> {
  const {
    scheduler,
    placing,
    discipline,
    limits,
    following,
    estimator,
    repeats,
    componentLog,
    unmeteredAway,
  } = preset
  return {
    ...{ scheduler, discipline, ...following, ...repeats },
    ...(componentLog && { componentLog }),
    ...(placing && { placing }),
    ...(limits && { limits }),
    ...(estimator && { ruled: estimator }),
    ...(unmeteredAway && { unmeteredAway }),
  }
}
