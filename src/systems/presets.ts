/** All presets by name. */

import { usualOutliers, usualRetryPauses, usualStalls } from '../brain/limits.ts'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { cloudprime, cloudprimeConstants } from './cloudprime/preset.ts'
import { cnvConstants } from './cnv/cell.ts'
import { cnv } from './cnv/preset.ts'
import { type Constants, readConstants } from './constants.ts'
import { ecowork, ecoworkConstants } from './ecowork/preset.ts'
import { hillclimbing, hillclimbingConstants } from './hillclimbing/preset.ts'
import { envoyP2c } from './peers/envoy.ts'
import { haproxyLeastconn } from './peers/haproxy.ts'
import { knative } from './peers/knative.ts'
import { nginx } from './peers/nginx.ts'
import { prequal } from './peers/prequal.ts'
import type { Preset, PresetMaker } from './preset.ts'
import { tiered, tieredConstants } from './tiered/preset.ts'

/** The five published systems. */
const systems = { tiered, cloudprime, cnv, hillclimbing, ecowork } satisfies Record<string, PresetMaker>

/** What the authors of the systems measured on their machines. */
export const measuredConstants = {
  tiered: tieredConstants,
  cloudprime: cloudprimeConstants,
  cnv: cnvConstants,
  hillclimbing: hillclimbingConstants,
  ecowork: ecoworkConstants,
} satisfies Record<keyof typeof systems, Constants>

/** Well-known balancers and autoscalers. */
const peers = {
  nginx,
  'haproxy-leastconn': haproxyLeastconn,
  'envoy-p2c': envoyP2c,
  knative,
  prequal,
} satisfies Record<string, PresetMaker>

export const presets = {
  plimsoll: ({ ms }) => ({
    description: 'Shortest remaining work first, with preemption. The default.',
    scheduler: 'srpt',
    discipline: 'srpt',
    limits: {
      outliers: {
        ...usualOutliers,
        everyMs: ms(usualOutliers.everyMs),
        baseMs: ms(usualOutliers.baseMs),
        mostMs: ms(usualOutliers.mostMs),
      },
      retryPauses: {
        ...usualRetryPauses,
        leastMs: ms(usualRetryPauses.leastMs),
        mostMs: ms(usualRetryPauses.mostMs),
        halfMs: ms(usualRetryPauses.halfMs),
        pauseMs: ms(usualRetryPauses.pauseMs),
        pauseMaxMs: ms(usualRetryPauses.pauseMaxMs),
      },
      stalls: {
        ...usualStalls,
        afterMs: ms(usualStalls.afterMs),
        forgetMs: ms(usualStalls.forgetMs),
      },
    },
  }),
  classic: () => ({
    description: 'Least connections, all jobs at once: what most balancers do. For comparison.',
    scheduler: 'least-connections',
    discipline: 'sharing',
  }),
  ...peers,
  ...systems,
} satisfies Record<string, PresetMaker>

/** Names that stand for several presets, where presets are compared. */
export const presetGroups: Readonly<Record<string, readonly string[]>> = {
  all: ['plimsoll', ...Object.keys(peers), ...Object.keys(systems)],
  systems: ['plimsoll', ...Object.keys(systems)],
  peers: ['plimsoll', ...Object.keys(peers)],
}

export type PresetName = keyof typeof presets

export interface PresetScales {
  timeScale?: number
  workScale?: number
  /** Measured constants, as `readConstants` reads them. */
  constants?: string | undefined
}

/** The preset of that name, with its times and amounts of work divided by the scales. */
export function presetOf(
  name: string,
  { timeScale = 1, workScale = 1, constants }: PresetScales = {},
): Preset {
  const maker: PresetMaker = oneOf('preset', name, presets)
  for (const [option, value] of Object.entries({ timeScale, workScale }))
    if (!(value > 0 && value < Infinity)) throw new ConfigError(`${option} = ${value}: must be above 0`)
  const measured: Readonly<Record<string, Constants>> = measuredConstants
  return maker({
    ms: (ms) => ms / timeScale,
    work: (units) => units / workScale,
    ...(constants !== undefined && { constants: readConstants(constants, name, measured[name]) }),
  })
}
