/** The option that names the environment variables which workloads and programs may see. */

import { ConfigError } from '../lib/errors.ts'

/** A name, the beginning of names such as `AWS_*`, or `*` for all. */
const pattern = /^(?:[A-Za-z_][A-Za-z0-9_]*\*?|\*)$/

/** Variables of Plimsoll itself are never passed on: they hold secrets of the cluster. */
export const reservedPrefix = 'PLIMSOLL_'

/** Reads a list that is separated by commas. */
export function passEnvFrom(list: string | undefined): string[] {
  const names = (list ?? '').split(',').map((name) => name.trim())
  if (names.length === 1 && names[0] === '') return []
  for (const name of names) {
    if (!pattern.test(name))
      throw new ConfigError(
        `--pass-env = ${list}: must be names of environment variables, separated by commas; NAME* stands for all that begin with NAME, * for all`,
      )
    if (name.startsWith(reservedPrefix))
      throw new ConfigError(`--pass-env = ${list}: ${name} belongs to Plimsoll and is never passed on`)
  }
  return names
}
