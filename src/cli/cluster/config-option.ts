import type { OptionSpecs } from '../../config/option.ts'

export const configOption = {
  config: {
    topic: 'Common',
    type: 'text',
    help: 'configuration file (.ts, .mts, .cts, .js, .mjs, .cjs, .json, .yaml or .yml); default: plimsoll.config.* in this folder',
    value: 'FILE',
  },
} as const satisfies OptionSpecs
