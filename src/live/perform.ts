/** Performs the brain's actions. */

import type { Destination } from '../front/open-job.ts'
import type { Functions } from '../front/transports/function.ts'
import { span } from '../lib/quantities.ts'
import type { Action } from '../model/action.ts'
import type { AttemptToken } from '../model/attempt.ts'
import type { Precedence } from '../model/job.ts'
import { workerNameOf } from '../model/worker.ts'
import { isLoss } from '../story/fleet-story.ts'
import { explain } from '../story/reasons.ts'
import type { Provider } from './fleet/provider.ts'
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
  workers: Pick<JoinedWorkers, 'upstreamOf' | 'send' | 'dismiss'>
  fronts: Pick<JoinedFronts, 'send' | 'gone'>
  fleet: Pick<Provider, 'launch' | 'terminate'>
  functions: Functions | undefined
  storingFor: Learning['storingFor']
  metrics: MetricsRecorder | undefined
  /** Filled with the last failed launches, in words. */
  launchTroubles: string[]
  /** Filled with the workers whose role is front. */
  frontWorkers: Set<string>
  log(line: string): void
}

type Of<T extends Action['type']> = Extract<Action, { type: T }>
/** What is left to do; other actions only report what the brain knows. */
type Performed = Exclude<Action['type'], 'wake' | 'wait' | 'pause' | 'resume' | 'revise' | 'retry' | 'drop'>
type Table = { [T in Performed]: (action: Of<T>) => void }

export function performer(parts: PerformParts): (action: Action) => void {
  const table: Table = { ...attemptActions(parts), ...fleetActions(parts), ...roleActions(parts) }
  const actions: Partial<Record<Action['type'], (action: never) => void>> = table
  return (action) => actions[action.type]?.(action as never)
}

function attemptActions(
  parts: PerformParts,
): Pick<Table, 'run' | 'overflow' | 'go' | 'cancel' | 'rank' | 'answer'> {
  const { jobs, workers, functions, storingFor, metrics } = parts
  const start = (token: AttemptToken, destination: Destination | undefined, precedence?: Precedence) => {
    const job = jobs.get(token.job)
    if (!job || !destination) return
    metrics?.attemptEnded(job)
    const runs = 'invoke' in destination ? storingFor(destination, job.parts.question) : destination
    void job.run(tokenOf(token), runs, precedence)
    metrics?.attemptBegan(job)
  }
  return {
    run: (action) => start(action, workers.upstreamOf(action.worker), action.precedence),
    overflow: (action) => start(action, functions),
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
    answer: (action) => jobs.get(action.job)?.settle(action),
  }
}

type FleetTable = Pick<Table, 'launch' | 'abandon' | 'drain' | 'terminate' | 'hold' | 'eject' | 'readmit'>

function fleetActions(parts: PerformParts): FleetTable {
  const { workers, fronts, fleet, launchTroubles, frontWorkers, log } = parts
  return {
    launch: ({ launch }) => fleet.launch(launch),
    abandon({ launch, reason }) {
      const name = workerNameOf(launch)
      launchTroubles.push(`worker ${name}: ${explain(reason)}`)
      if (launchTroubles.length > mostTroubles) launchTroubles.shift()
      log(`fleet: worker ${name} did not start: ${explain(reason)}`)
      fleet.terminate(launch)
    },
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
function roleActions({ workers, frontWorkers }: PerformParts): Pick<Table, 'assign' | 'deny'> {
  return {
    assign({ worker, role, settings }) {
      if (role === 'front') frontWorkers.add(worker)
      workers.send(worker, { type: 'assign', role, settings })
    },
    deny: ({ worker, reason }) => workers.send(worker, { type: 'deny', message: explain(reason) }),
  }
}

/** Actions carry more than a token, which must not reach the wire. */
function tokenOf({ epoch, job, attempt }: AttemptToken): AttemptToken {
  return { epoch, job, attempt }
}
