/** The options of `plimsoll up`. */

import { clusterOptions } from '../../config/cluster-options.ts'
import type { OptionSpecs } from '../../config/option.ts'
import { configOption } from './config-option.ts'

const { port, ...others } = clusterOptions
const watchOption = {
  watch: {
    topic: 'Common',
    type: 'flag',
    help: 'for development: restart with the new code when a file of a workload or of the server changes',
  },
} as const satisfies OptionSpecs

export const upOptions = { port, ...configOption, ...watchOption, ...others } as const satisfies OptionSpecs

/** `up` starts the brain's process with this flag before all others. */
export const supervisedFlag = '--supervised'
