/** The files of a live cluster: its logs, its ledger, and the estimator that learns from the ledger. */

import { mkdirSync } from 'node:fs'
import { EstimateErrors } from '../estimate/errors.ts'
import { Overheads } from '../estimate/overheads.ts'
import { FleetRates } from '../estimate/rates.ts'
import { type ComponentLog, componentLogOf } from '../story/component-log.ts'
import { type EventLogFile, eventLogFile } from './event-log-file.ts'
import { type Learning, openLearning } from './learning.ts'
import type { ClusterPlan } from './plan.ts'

export interface Records extends Learning {
  eventLog: EventLogFile
  /** Undefined: not asked for. */
  components: ComponentLog | undefined
  rates: FleetRates
  overheads: Overheads
  errors: EstimateErrors
  log(line: string): void
}

/** Everything opened is closed by `opening`. */
export async function openRecords(plan: ClusterPlan, opening: AsyncDisposableStack): Promise<Records> {
  const { options, serving, spec, nominal } = plan
  mkdirSync(options.dataDir, { recursive: true })
  const { components, log } = componentLogOf(options)
  opening.defer(() => components?.close())
  const eventLog = opening.adopt(eventLogFile({ file: options.eventLog, spec, log }), (file) => file.close())
  const rates = new FleetRates(nominal * 1000)
  const overheads = new Overheads(nominal)
  const { code, meter, units } = serving
  const parts = { nominal, code, meter, units, rates, overheads, log, functions: plan.functions?.id }
  const learning = await openLearning(options, parts, opening)
  return { ...learning, eventLog, components, rates, overheads, errors: new EstimateErrors(), log }
}
