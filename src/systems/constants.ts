/**
 * The measured constants of presets. `plimsoll calibrate` measures them on a machine, and a configuration replaces those
 * of the documents: `constants: intermediate=161751155,max=1272110814`. The numbers of a list are separated by `/`.
 */

import { ConfigError } from '../lib/errors.ts'

export type Constants = Readonly<Record<string, number | readonly number[]>>

/** The given constants, and the usual ones for the rest. */
export function chosen<C extends Constants>(usual: C, given: Constants = {}): C {
  return { ...usual, ...given }
}

/** `usual`: all constants of the preset. */
export function readConstants(text: string, preset: string, usual: Constants | undefined): Constants {
  if (!usual) throw new ConfigError(`constants: the preset ${preset} has no measured constants`)
  const terms = text.split(',').map((term) => {
    const [name = '', value = ''] = term.split('=').map((part) => part.trim())
    if (!Object.hasOwn(usual, name)) {
      const names = Object.keys(usual).join(', ')
      throw new ConfigError(`constants: ${name}: must be one of ${names}`)
    }
    return [name, readValue(name, value, usual[name]!)] as const
  })
  return Object.fromEntries(terms)
}

function readValue(name: string, text: string, usual: number | readonly number[]): number | number[] {
  const numbers = text.split('/').map((part) => (part === '' ? Number.NaN : Number(part)))
  const isValid = numbers.every((number) => number > 0 && number < Infinity)
  const count = typeof usual === 'number' ? 1 : usual.length
  if (isValid && numbers.length === count) return typeof usual === 'number' ? numbers[0]! : numbers
  const must = count === 1 ? 'a number above 0' : `${count} numbers above 0, separated by /`
  throw new ConfigError(`constants: ${name} = ${text}: must be ${must}`)
}

export function constantsText(constants: Constants): string {
  return Object.entries(constants)
    .map(([name, value]) => `${name}=${typeof value === 'number' ? value : value.join('/')}`)
    .join(',')
}
