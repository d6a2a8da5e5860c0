/** The measured constants as a configuration file. */

import { cpus } from 'node:os'
import { type Constants, constantsText } from '../../systems/constants.ts'
import type { Finding } from './experiment.ts'

export interface Calibrated {
  preset: string
  quick: boolean
  at: Date
  findings: readonly Finding[]
  /** Those of the preset. */
  usual: Constants
}

/** YAML, whose comments say how each constant was measured. */
export function configText({ preset, quick, at, findings, usual }: Calibrated): string {
  const cores = cpus()
  const machine = `${cores.length} × ${cores[0]?.model.trim() ?? 'unknown processor'}`
  const constants = Object.fromEntries(findings.map(({ constant, value }) => [constant, value]))
  const told = findings.map(({ constant, value, how }) => {
    return `#   ${constant} ${value} (without this file: ${usual[constant]})\n#     ${how}`
  })
  return [
    `# Measured by plimsoll calibrate --preset ${preset}${quick ? ' --quick' : ''}`,
    `# on ${at.toISOString().slice(0, 16).replace('T', ' ')} UTC, ${machine}.`,
    ...told,
    `preset: ${preset}`,
    `constants: ${constantsText(constants)}`,
    '',
  ].join('\n')
}
