/** Finds the modules of workloads. */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commonOptions } from '../../config/cluster-options.ts'
import type { OptionSpecs } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { modulesIn } from '../../workload/modules-in.ts'

/** Workloads that are part of the package. */
export const bundledWorkloads = fileURLToPath(new URL('../../../workloads', import.meta.url))

/** `list` names files and folders, separated by commas. A folder stands for its modules without their tests. */
export function workloadFiles(list: string): string[] {
  const files = list.split(',').flatMap((name) => {
    const path = resolve(name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) throw new ConfigError(`--workloads = ${name}: no such file or folder`)
    if (!found.isDirectory()) return [path]
    return modulesIn(path)
  })
  if (files.length === 0) throw new ConfigError(`--workloads = ${list}: contains no modules`)
  return files
}

/** A process that joins a cluster must serve the same workloads, or the same server, as the others. */
export const servedOptions = {
  workloads: commonOptions.workloads,
  config: {
    type: 'text',
    help: 'configuration of an existing server, in place of workloads; its other settings are ignored',
    value: 'FILE',
  },
} as const satisfies OptionSpecs
