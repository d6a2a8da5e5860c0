/** Performs the brain's actions. An action that fails is logged, and the others are performed all the same. */

import type { Destination, RunTerms } from '../front/open-job.ts'
import type { OverloadWatch } from '../front/overload/overload-watch.ts'
import type { Functions } from '../front/transports/function.ts'
import { stackOf } from '../lib/errors.ts'
import type { Outage } from '../lib/outage.ts'
import { span } from '../lib/quantities.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken, FailureKind } from '../model/attempt.ts'
import type { Event } from '../model/event.ts'
import type { Provider } from '../model/provider.ts'
import { workerNameOf } from '../model/worker.ts'
import { isLoss } from '../story/fleet-story.ts'
import { explain } from '../story/reasons.ts'
import type { JoinedFronts } from './fronts/joined-fronts.ts'
import type { JoinedWorkers } from './joined-workers.ts'
import type { Learning } from './learning.ts'
import type { MetricsRecorder } from './metrics-recorder.ts'
import type { OpenJobs } from './open-jobs.ts'

/** Time allowed for a drained worker to end by itself; for one that is a front, with its clients' connections. */
const endMs = 2_000
const frontEndMs = 15_000
/** Failed launches that `launchTroubles` lists. */
const mostTroubles = 10

export interface PerformParts {
  jobs: OpenJobs
  workers: Pick<JoinedWorkers, 'upstreamOf' | 'send' | 'dismiss' | 'ping'>
  fronts: Pick<JoinedFronts, 'send' | 'gone'>
  fleet: Pick<Provider, 'launch' | 'terminate'>
  functions: Functions | undefined
  storingFor: Learning['storingFor']
  metrics: MetricsRecorder | undefined
  overload: Pick<OverloadWatch, 'amend'>
  /** Filled with the last failed launches, in words. */
  launchTroubles: string[]
  /** Reports launches that fail. */
  launches: Outage
  /** Reads the CPU utilisation of workers from elsewhere. */
  readCpu?: () => void
  /** Filled with the workers whose role is front. */
  frontWorkers: Set<string>
  tell(event: Event): void
  /** With which workers that become fronts join. */
  frontToken: string
  log(line: string): void
}

type Of<T extends Action['type']> = Extract<Action, { type: T }>
/** What is left to do; other actions only report what the brain knows. */
type Performed = Exclude<Action['type'], 'wake' | 'wait' | 'pause' | 'resume' | 'revise' | 'retry' | 'drop'>
type Table = { [T in Performed]: (action: Of<T>) => void }

export function performer(parts: PerformParts): (action: Action) => void {
  const table: Table = { ...attemptActions(parts), ...fleetActions(parts), ...roleActions(parts) }
  const actions: Partial<Record<Action['type'], (action: never) => void>> = table
  return (action) => {
    try {
      actions[action.type]?.(action as never)
    } catch (error) {
      // The brain's other actions concern other jobs.
      parts.log(`internal error: ${describe(action)}: ${stackOf(error)}`)
    }
  }
}

function describe(action: Action): string {
  const { type, job, worker, launch } = action as unknown as Partial<Record<string, string>>
  return [type, job && `of job ${job}`, worker && `on worker ${worker}`, launch && `of launch ${launch}`]
    .filter(Boolean)
    .join(' ')
}

function attemptActions(
  parts: PerformParts,
): Pick<Table, 'run' | 'adopt' | 'overflow' | 'go' | 'cancel' | 'rank' | 'answer'> {
  const { jobs, workers, functions, storingFor, metrics, overload, tell, log } = parts
  const start = (token: AttemptToken & { worker: string }, to: Destination | undefined, terms: RunTerms) => {
    const { worker, attempt } = token
    const job = jobs.get(token.job)
    if (!job) return
    // Whatever it was, the job goes on elsewhere or ends with an answer.
    const failed = (kind: FailureKind, message: string, more = '') => {
      log(`job ${token.job}: attempt ${attempt} could not be sent to ${worker}: ${message}${more}`)
      const blameless = kind === 'error' && { blameless: true as const }
      tell({ type: 'failed', ...tokenOf(token), worker, kind, message, ...blameless })
    }
    const broke = (error: unknown) =>
      failed('error', `internal error: ${(error as Error).message}`, `\n${stackOf(error)}`)
    if (!to) return failed('unreachable', 'it is unknown')
    try {
      metrics?.attemptEnded(job)
      const runs = 'invoke' in to ? storingFor(to, job.parts.question) : to
      Promise.resolve(job.run(tokenOf(token), runs, terms)).catch(broke)
      metrics?.attemptBegan(job)
    } catch (error) {
      broke(error)
    }
  }
  return {
    run: (action) => start(action, workers.upstreamOf(action.worker), action),
    adopt({ job }) {
      const adopted = jobs.get(job)
      if (adopted) metrics?.attemptBegan(adopted)
    },
    overflow: (action) => start({ ...action, worker: action.function }, functions, action),
    go(action) {
      const token = tokenOf(action)
      jobs.get(action.job)?.commit(token, () => workers.send(action.worker, { type: 'go', ...token }))
    },
    cancel(action) {
      const { worker } = action
      if (worker === functions?.id) jobs.current(worker, action)?.cancelAttempt()
      else workers.send(worker, { type: 'cancel', ...tokenOf(action) })
    },
    rank: (action) =>
      workers.send(action.worker, { type: 'rank', ...tokenOf(action), precedence: action.precedence }),
    answer: (action) => jobs.get(action.job)?.settle(overload.amend(action)),
  }
}

type FleetTable = Pick<
  Table,
  'launch' | 'abandon' | 'ping' | 'read-cpu' | 'drain' | 'terminate' | 'hold' | 'eject' | 'readmit'
>

function fleetActions(parts: PerformParts): FleetTable {
  const { workers, fronts, fleet, launches, launchTroubles, frontWorkers, log } = parts
  return {
    launch: ({ launch }) => fleet.launch(launch),
    abandon({ launch, reason }) {
      const name = workerNameOf(launch)
      launchTroubles.push(`worker ${name}: ${explain(reason)}`)
      if (launchTroubles.length > mostTroubles) launchTroubles.shift()
      launches.failed(explain(reason), 1)
      fleet.terminate(launch)
    },
    ping: ({ worker, ping }) => workers.ping(worker, ping),
    'read-cpu': () => parts.readCpu?.(),
    drain({ worker }) {
      if (frontWorkers.has(worker)) fronts.send(worker, { type: 'leave' })
      workers.send(worker, { type: 'drain' })
    },
    terminate({ worker, reason }) {
      const isDrained = reason.code === 'drained'
      if (isLoss(reason)) log(`fleet: worker ${worker} was lost: ${explain(reason)}`)
      const wasFront = frontWorkers.delete(worker)
      if (wasFront && !isDrained) fronts.gone(worker)
      workers.dismiss(worker, isDrained ? (wasFront ? frontEndMs : endMs) : 0, reason)
    },
    hold: ({ worker, reason }) => log(`fleet: worker ${worker} is not declared lost yet: ${explain(reason)}`),
    eject: ({ worker, reason }) =>
      log(`fleet: worker ${worker} is ejected for ${span(reason.ms)}: ${explain(reason)}`),
    readmit: ({ worker, reason }) => log(`fleet: worker ${worker} gets jobs again: ${explain(reason)}`),
  }
}

/** For scalers that assign roles. */
function roleActions({ workers, frontWorkers, frontToken }: PerformParts): Pick<Table, 'assign' | 'deny'> {
  return {
    assign({ worker, role, settings }) {
      const isFront = role === 'front'
      if (isFront) frontWorkers.add(worker)
      workers.send(worker, { type: 'assign', role, settings, ...(isFront && { frontToken }) })
    },
    deny: ({ worker, reason }) => workers.send(worker, { type: 'deny', message: explain(reason) }),
  }
}

/** Actions carry more than a token, which must not reach the wire. */
function tokenOf({ epoch, job, attempt }: AttemptToken): AttemptToken {
  return { epoch, job, attempt }
}
