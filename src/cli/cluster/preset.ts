/** The preset of a cluster, its workloads and what it sets. */

import type { clusterOptions } from '../../config/cluster-options.ts'
import type { OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import type { ClusterOptions } from '../../live/cluster.ts'
import type { Preset } from '../../systems/preset.ts'
import { presetOf } from '../../systems/presets.ts'
import { bundledWorkloads, workloadFiles } from './workload-files.ts'

export function presetFrom({
  preset,
  timeScale,
  workScale,
  constants,
}: OptionValues<typeof clusterOptions>): Preset {
  return presetOf(preset, { timeScale, workScale, constants })
}

/** Workload modules: those of `--workloads`, or else the preset's, or else all bundled ones. */
export function filesFrom({ workloads }: { workloads: string | undefined }, preset: Preset): string[] {
  const files = workloadFiles(workloads ?? bundledWorkloads)
  if (workloads !== undefined || !preset.workloads) return files
  return preset.workloads.map((name) => {
    const file = files.find((each) => each.endsWith(`/${name}.ts`) || each.endsWith(`/${name}.js`))
    if (!file) throw new ConfigError(`preset: the workload ${name} is not bundled`)
    return file
  })
}

/** Settings that pass from the preset to the cluster unchanged. */
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
