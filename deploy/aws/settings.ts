/** The configuration of a deployment: a JSON file such as cluster.example.json. */

import { readFileSync } from 'node:fs'

export interface Settings {
  /** Name of the stacks, prefix of what is in them, and the tag of the instances. */
  name: string
  preset: PresetName
  region: string
  zones: readonly string[]
  /** Of the balancer and of the workers. */
  instanceType: string
  minWorkers: number
  maxWorkers: number
  publicPort: number
  /** Addresses that may reach the public port. */
  publicFrom: string
  /** What npm installs on the machines and in the functions: a name with an optional version, or a URL. */
  package: string
}

export const presetNames = ['plimsoll', 'cloudprime', 'cnv', 'hillclimbing', 'ecowork'] as const
export type PresetName = (typeof presetNames)[number]

/** The machines of the documents; of ecowork and hillclimbing, whose documents name none, the same small ones. */
const machines: Readonly<Record<PresetName, Pick<Settings, 'instanceType' | 'minWorkers' | 'maxWorkers'>>> = {
  plimsoll: { instanceType: 't3.small', minWorkers: 1, maxWorkers: 4 },
  cloudprime: { instanceType: 't3.micro', minWorkers: 2, maxWorkers: 10 },
  cnv: { instanceType: 't3.micro', minWorkers: 1, maxWorkers: 3 },
  hillclimbing: { instanceType: 't3.micro', minWorkers: 1, maxWorkers: 10 },
  ecowork: { instanceType: 't3.micro', minWorkers: 1, maxWorkers: 20 },
}

const usual = {
  name: 'plimsoll',
  preset: 'plimsoll',
  publicPort: 8080,
  publicFrom: '0.0.0.0/0',
  package: 'plimsoll',
}

type Check = [isRight: (value: unknown) => boolean, must: string]

const text = (pattern: RegExp, must: string): Check => [
  (value) => typeof value === 'string' && pattern.test(value),
  must,
]
const whole = (least: number, most: number): Check => [
  (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  `a whole number from ${least} to ${most}`,
]

const checks: Readonly<Record<keyof Settings, Check>> = {
  name: text(/^[a-z][a-z0-9-]{0,30}$/, 'lower-case letters, digits and dashes, at most 31'),
  preset: [(value) => presetNames.includes(value as PresetName), presetNames.join(', ')],
  region: text(/^[a-z]{2}(-[a-z]+)+-\d$/, 'the name of a region, such as eu-central-1'),
  zones: [
    (value) =>
      Array.isArray(value) && value.length > 0 && value.every((zone) => /^[a-z0-9-]+[a-z]$/.test(zone)),
    'a list of zones of the region',
  ],
  instanceType: text(/^[a-z0-9-]+\.[a-z0-9]+$/, 'an instance type, such as t3.micro'),
  minWorkers: whole(0, 1000),
  maxWorkers: whole(1, 1000),
  publicPort: whole(1, 65_535),
  publicFrom: text(/^\d+(\.\d+){3}\/\d+$/, 'a range of IPv4 addresses, such as 0.0.0.0/0'),
  package: text(/^[\w@./:+-]+$/, 'what npm install accepts'),
}

/** Throws an error that names the setting, its value and what is allowed. */
export function readSettings(file: string): Settings {
  const given = JSON.parse(readFileSync(file, 'utf8')) as Partial<Settings>
  const unknown = Object.keys(given).find((key) => !(key in checks))
  if (unknown !== undefined)
    throw new Error(`${file}: ${unknown}: no such setting; there are ${Object.keys(checks).join(', ')}`)
  const preset = given.preset ?? 'plimsoll'
  const settings = { ...usual, ...machines[preset], ...given } as Settings
  for (const [key, [isRight, must]] of Object.entries(checks)) {
    const value = settings[key as keyof Settings]
    if (!isRight(value)) throw new Error(`${file}: ${key} = ${JSON.stringify(value)}: must be ${must}`)
  }
  if (settings.maxWorkers < settings.minWorkers)
    throw new Error(
      `${file}: maxWorkers = ${settings.maxWorkers}: must be at least minWorkers (${settings.minWorkers})`,
    )
  return settings
}
