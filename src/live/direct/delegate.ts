/** Connects the delegation of small requests with a cluster. */

import type { DirectRow } from '../../wire/direct.ts'
import type { Accepting } from '../accept.ts'
import type { Core } from '../core.ts'
import { learnFrom } from '../finished-jobs.ts'
import type { JoinedWorkers } from '../joined-workers.ts'
import type { ClusterPlan } from '../plan.ts'
import type { Serving } from '../serving.ts'
import { Delegation } from './delegation.ts'

export function delegate(
  core: Core,
  fronts: Pick<Accepting, 'tellFronts' | 'frontIds'>,
  workers: Pick<JoinedWorkers, 'known'>,
): Delegation {
  const { plan, brain, problems, jobs, tell } = core
  return new Delegation({
    ...{ belowMs: belowMs(plan), problems, tell },
    fronts: frontsOf(plan),
    hasServer: plan.options.own !== undefined,
    mayDelegate: (name) => !isLimited(plan.serving, name),
    workers: () => brain.view().workers,
    addressOf: (worker) => workers.known(worker)?.address,
    openJobs: () => jobs.size,
    broadcast: (message) => fronts.tellFronts(message),
    joined: () => fronts.frontIds(),
    learn: (row) => learnRow(core, row),
  })
}

/** Without a supervisor this process is a front too. */
function frontsOf({ options: { fronts, supervisor } }: ClusterPlan): number {
  return supervisor ? (fronts?.count ?? 1) : (fronts?.count ?? 0) + 1
}

/**
 * Options that concern every single request need the brain for each: limits and shares of clients, shared answers,
 * functions, and policies and records of other systems.
 */
function belowMs({ options, following, functions }: ClusterPlan): number {
  const {
    directBelowMs = 0,
    fair,
    rateLimit,
    cacheBytes = 0,
    coalesce,
    estimator,
    ruled,
    ownScheduler,
  } = options
  const everyRequest = [
    fair,
    rateLimit,
    cacheBytes > 0,
    coalesce,
    estimator,
    ruled,
    ownScheduler,
    functions,
    following.fromStart,
  ]
  return everyRequest.some(Boolean) || following.metricsEvery !== undefined ? 0 : directBelowMs
}

/** The brain and the workers enforce deadlines, lanes and time limits. */
function isLimited({ own, workloads }: Serving, name: string): boolean {
  const route = own?.routes.find((each) => each.name === name)
  const workload = workloads.get(name)
  const { deadlineMs, limitMs } = route ?? workload ?? {}
  return deadlineMs !== undefined || limitMs !== undefined || workload?.lane !== undefined
}

function learnRow({ plan, records }: Core, { name, key, features, params, cost, ...row }: DirectRow): void {
  const { serving } = plan
  const codeHash = serving.code[name]
  if (codeHash === undefined) return
  const job = { id: row.job, workload: name, work: 0, memoryMb: 0 }
  const question = { workload: name, codeHash, key, params, features }
  const { worker, startedAt } = row
  const ended = { worker, startedAt, cost, attempts: 1, outcome: 'result' as const }
  learnFrom({ ...ended, parts: { job, question, params } }, { ...records, units: serving.units })
}
