/** What a cluster's options amount to, checked, before anything is opened. */

import { usualSilentLosses } from '../brain/limits.ts'
import { checkPrice } from '../estimate/quote.ts'
import { frontDefaults } from '../front/front.ts'
import { type ClientNamer, clientNamer } from '../front/request/client-name.ts'
import { checkCertificates } from '../front/tls/certificates.ts'
import { type Following, followingOf, type Quantity, quantitiesIn } from '../model/metering.ts'
import { type Prices, usualPrices } from '../model/prices.ts'
import type { BrainSpec } from '../systems/brain-spec.ts'
import type { FrontLimits } from '../wire/front-settings.ts'
import { attemptTokenOf, type Tokens } from '../wire/token.ts'
import { nominalRate } from '../worker/rates.ts'
import type { ClusterOptions } from './cluster-options.ts'
import { type Machines, openMachines } from './fleet/machines.ts'
import { type FunctionSettings, functionSettings } from './functions/settings.ts'
import { type CurrentServing, currentServing, servingOf } from './serving.ts'

/** Heartbeat interval. */
const usualBeatMs = 1_000
/** How long a new brain waits for fronts and workers to tell what an earlier one had begun. */
const recoverMs = 5_000
/** Time allowed for a worker to join after its launch. */
const usualBootMs = 120_000
/** Of instances, which have to boot first. */
const instanceBootMs = 300_000
/** How often the provider is asked for its machines, and how late its list may be. */
const [ownList, remoteList] = [
  { everyMs: 1_000, limitMs: 3_000 },
  // AWS lists are late by seconds, and each costs a call.
  { everyMs: 5_000, limitMs: 30_000 },
]

export interface ClusterPlan {
  options: ClusterOptions
  serving: CurrentServing
  spec: BrainSpec
  beatMs: number
  bootMs: number
  /** Of the provider. */
  listing: { everyMs: number; limitMs: number }
  tokens: Tokens
  /** Authorizes attempts at workers and functions. */
  attemptToken: string
  /** Rule for the names of clients, and the same rule as an option. */
  clientOf: ClientNamer
  clientBy: string
  following: Following
  /** Nominal work per millisecond of CPU time. */
  nominal: number
  quantities: readonly Quantity[]
  limits: FrontLimits
  prices: Prices
  /** Where workers run; undefined: on this machine. */
  machines: Machines | undefined
  /** Undefined: no functions. */
  functions: FunctionSettings | undefined
}

/** Rejects with a `ConfigError` that names the option. */
export async function planCluster(options: ClusterOptions, tokens: Tokens): Promise<ClusterPlan> {
  const serving = currentServing(await servingOf(options))
  const { meter } = serving
  checkPrice(options.pricePerHour)
  const clientBy = options.clientBy ?? 'address'
  const limits = { ...frontDefaults, ...options.frontLimits }
  // A brain that is restarted must not fail because new files are broken: fronts keep the old ones.
  if (!options.supervisor?.memory) {
    if (limits.tls) checkCertificates(limits.tls)
    if (options.adminTls) checkCertificates(options.adminTls, 'admin-tls')
  }
  const functions = functionSettings(options, meter)
  // A worker joins once its programs are healthy, or their time to become healthy is over.
  const bootMs = (options.ec2 ? instanceBootMs : usualBootMs) + (options.own?.workers?.startMs ?? 0)
  const beatMs = options.limits?.beatMs ?? usualBeatMs
  const coreWorkPerSecond = nominalRate(meter) * 1000
  const listing = options.ec2 ? remoteList : ownList
  const times = { beatMs, bootMs, listMs: listing.limitMs }
  const spec = specOf(options, { ...times, coreWorkPerSecond })
  const machines = await openMachines({ options, meter, token: tokens.worker, bootMs })
  if (functions) spec.overflow = functions.brain
  return {
    ...{ options, serving, spec, beatMs, listing, bootMs: spec.limits.bootMs ?? bootMs, functions, clientBy },
    machines,
    clientOf: clientNamer(clientBy, limits.trustedProxies),
    following: followingOf(options, meter),
    tokens,
    attemptToken: attemptTokenOf(tokens.worker),
    nominal: nominalRate(meter),
    quantities: quantitiesIn(meter),
    limits,
    prices: { ...usualPrices, ...options.prices, workerHour: options.pricePerHour ?? 0 },
  }
}

function specOf(
  options: ClusterOptions,
  times: { beatMs: number; bootMs: number; listMs: number; coreWorkPerSecond: number },
): BrainSpec {
  const { coreWorkPerSecond, ...limits } = times
  const { scheduler, discipline, min, max, scale, queue, supervisor } = options
  return {
    scheduler,
    ...(options.placing && { placing: options.placing }),
    discipline,
    scale: { min, max, ...scale },
    epoch: supervisor?.epoch ?? Math.floor(Date.now() / 1000),
    seed: 1,
    limits: {
      ...{ queue, ...limits, recoverMs, backoffMs: 500, backoffMaxMs: 30_000 },
      ...(options.ec2?.cpu && { cpuReadings: true }),
      silentLosses: usualSilentLosses,
      ...options.limits,
    },
    ...(options.fair && { fair: true }),
    ...(options.rateLimit && { rateLimit: { ...options.rateLimit, coreWorkPerSecond } }),
  }
}
