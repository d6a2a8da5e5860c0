/** The steps in which a running cluster changes to another version of its code. `rolling-restart.ts` has their order. */

import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterFunctions } from '../front/transports/function.ts'
import { removeOldCode } from '../workload/kept-code.ts'
import type { OpenJobs } from './open-jobs.ts'
import type { ClusterPlan } from './plan.ts'
import { type Serving, servingOf } from './serving.ts'
import { keepVersion, type Sources, type Version } from './version.ts'
import type { Versions } from './versions.ts'

export interface ChangeParts {
  plan: ClusterPlan
  /** Reads again what is to be served. */
  sources(): Promise<Sources>
  versions: Versions
  jobs: Pick<OpenJobs, 'all'>
  functions: ClusterFunctions | undefined
  /** Lets the estimator learn from the ledger's rows of these workloads. */
  warm(workloads: readonly string[]): Promise<void>
  /** Drains workers that this cluster did not start and that run another version. */
  drainOthers(): void
  /** Tells the door that fronts start with the next version. */
  renewFronts(): void
  /** Drops cached answers and what is known of the size of requests: both may be of the version before. */
  forgetAnswers(): void
  log(line: string): void
}

export interface VersionChange {
  /** False: no worker runs any code, because the servers are upstreams. */
  readonly isTried: boolean
  /** The worker of this launch tries it; `load` rejects if the cluster cannot load the same code. */
  tryOut(launch: string): { load(): Promise<void>; end(): void }
  /** Loads it into this process. Rejects if it cannot be loaded. */
  load(): Promise<void>
  /** Workers and fronts start with it from now on. */
  begin(): void
  /** Rejects requests for workloads that it lacks, and resolves when those accepted have ended, or after the limit. */
  retire(limitMs: number): Promise<void>
  /** This process serves it from now on. */
  serve(): void
  finish(): void
}

const pollMs = 20

/** Undefined: the version on disk is the one that is served. */
export async function newVersion(parts: ChangeParts): Promise<VersionChange | undefined> {
  const { versions } = parts
  const { dataDir } = parts.plan.options
  const next = await keepVersion(await parts.sources(), dataDir)
  versions.read(next)
  await removeOldCode(dataDir, [next.id, versions.current.id, versions.served.id])
  return next.id === versions.served.id ? undefined : changeTo(next, parts)
}

function changeTo(next: Version, parts: ChangeParts): VersionChange {
  const { plan, versions, jobs, functions, log } = parts
  const { serving } = plan
  const before: Serving = { ...serving, code: serving.code, own: serving.own, workloads: serving.workloads }
  const names = Object.keys(before.code)
  let loaded: Serving | undefined

  async function load(): Promise<void> {
    loaded = await servingOf({ ...next, meter: plan.serving.meter })
    await parts.warm(Object.keys(loaded.code).filter((name) => !names.includes(name)))
  }

  return {
    isTried: next.own?.upstreams === undefined,
    tryOut(launch) {
      const trial = versions.tryOut(launch, next)
      return {
        async load() {
          await load()
          const theirs = trial.code() ?? {}
          const other = Object.entries(loaded!.joining).find(([name, hash]) => theirs[name] !== hash)
          if (other)
            throw new Error(`the code of ${other[0]} loads differently in a worker and in the cluster`)
        },
        end: trial.end,
      }
    },
    load,
    begin() {
      versions.begin(next, loaded!.joining)
      parts.renewFronts()
    },
    async retire(limitMs) {
      // Old fronts use the routes of an existing server until they are replaced.
      if (before.own) return
      const removed = names.filter((name) => loaded!.code[name] === undefined)
      if (removed.length === 0) return
      const isKept = ([name]: readonly [string, unknown]) => !removed.includes(name)
      serving.change({
        ...before,
        workloads: new Map([...before.workloads].filter(isKept)),
        code: Object.fromEntries(Object.entries(before.code).filter(isKept)),
      })
      const until = performance.now() + limitMs
      while (
        jobs.all().some(({ parts: { job } }) => removed.includes(job.workload)) &&
        performance.now() < until
      )
        await delay(pollMs, undefined, { ref: false })
    },
    serve() {
      // Fronts of the version before read requests by its routes, also while they leave.
      serving.change(before.own ? { ...loaded!, code: { ...before.code, ...loaded!.code } } : loaded!)
      versions.serve(next)
      if (plan.functions) functions?.use(plan.functions.command(next.files))
      parts.drainOthers()
      parts.forgetAnswers()
      log(`restart: the new version ${next.id} is served`)
    },
    finish() {
      versions.finish()
      parts.forgetAnswers()
    },
  }
}
