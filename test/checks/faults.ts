/**
 * Runs fault seeds for every policy, on all cores, prints the command that reproduces each failure, and shrinks the first.
 * Part of `npm run check`. `--others`: seeds of every policy but the default one. `--first`: stop at the first failure.
 */

import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { chaos } from '../../src/simulate/chaos.ts'
import { type SchedulerName, schedulers } from '../../src/systems/schedulers.ts'
import { shrunkFaults } from './shrunk-faults.ts'

export interface FaultRun {
  policy: SchedulerName
  from: number
  to: number
  /** Stop at the first failure. */
  first: boolean
}

/** Figures that are summed over all runs. */
const counts = [
  'jobs',
  'results',
  'retries',
  'ranked',
  'dropped',
  'launches',
  'givenUp',
  'strangers',
  'drained',
  'away',
  'awayFailed',
  'roles',
  'stays',
  'late',
  'pauses',
  'held',
  'ejected',
  'shed',
  'adopted',
  'stalled',
  'stallDrains',
] as const

export type FaultTotals = Record<(typeof counts)[number] | 'seeds', number> & {
  failures: { policy: SchedulerName; seed: number; takeOver: boolean; message: string }[]
}

function noTotals(): FaultTotals {
  const none = Object.fromEntries(counts.map((name) => [name, 0])) as Record<(typeof counts)[number], number>
  return { seeds: 0, ...none, failures: [] }
}

/** Runs the seeds `from` to `to`, inclusive. */
export function runFaults({ policy, from, to, first }: FaultRun): FaultTotals {
  const totals = noTotals()
  for (let seed = from; seed <= to; seed++) {
    totals.seeds++
    // In half of the runs brains die, too.
    const takeOver = seed % 2 === 0
    try {
      const run = chaos(policy, seed, { takeOver })
      for (const name of counts) totals[name] += run[name]
    } catch (error) {
      totals.failures.push({ policy, seed, takeOver, message: (error as Error).message })
      if (first) break
    }
  }
  return totals
}

export function reproduce({
  policy,
  seed,
  takeOver,
}: {
  policy: string
  seed: number
  takeOver?: boolean
}): string {
  return `npm run -s plimsoll -- simulate --faults${takeOver ? ' --take-over' : ''} --policy ${policy} --seed ${seed}`
}

/** Runs one policy after another, with its seeds spread over the cores. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '500' },
      others: { type: 'string' },
      policy: { type: 'string' },
      first: { type: 'boolean', default: false },
    },
  })
  const asked = Number(values.seeds)
  const others = Number(values.others ?? values.seeds)
  const names = Object.keys(schedulers) as SchedulerName[]
  const policies = names.filter((name) => values.policy === undefined || name === values.policy)
  if (!(asked >= 1 && others >= 1) || policies.length === 0)
    throw new Error(`usage: --seeds N [--others N] [--policy ${names.join('|')}] [--first]`)
  let failed = 0
  for (const policy of policies) {
    const began = performance.now()
    const shares = availableParallelism()
    const seeds = policy === 'srpt' ? asked : others
    const parts = Array.from({ length: shares }, (_, i): FaultRun => {
      const from = Math.floor((seeds * i) / shares) + 1
      return { policy, from, to: Math.floor((seeds * (i + 1)) / shares), first: values.first }
    })
    const totals = await Promise.all(parts.map(inThread))
    const sum = (name: (typeof counts)[number] | 'seeds') =>
      totals.reduce((total, part) => total + part[name], 0)
    const failures = totals.flatMap((part) => part.failures)
    failed += failures.length
    console.log(
      `${policy}: ${sum('seeds')} seeds, ${sum('jobs')} jobs, ${sum('results')} results, ${sum('retries')} retries, ${sum('ranked')} changes of rank, ` +
        `${sum('dropped')} superseded messages dropped, ${sum('launches')} launches (${sum('givenUp')} abandoned), ` +
        `${sum('strangers')} stray machines ended, ${sum('drained')} drains, ${sum('away')} attempts in functions (${sum('awayFailed')} failed), ${sum('roles')} roles assigned, ${sum('stays')} requests to leave denied, ${sum('late')} jobs dropped, ${sum('pauses')} pauses of the brain, ${sum('held')} silent workers kept, ${sum('ejected')} workers ejected, ${sum('adopted')} attempts adopted, ${sum('stalled')} stalled attempts ended (${sum('stallDrains')} workers drained), ${failures.length} failures, ${((performance.now() - began) / 1000).toFixed(1)} s`,
    )
    for (const failure of failures.slice(0, 5)) console.log(`  ${failure.message}\n    ${reproduce(failure)}`)
    const [worst] = failures
    if (worst && failed === failures.length)
      console.log((await shrunkFaults(worst.policy, worst.seed, worst.takeOver)).join('\n'))
    if (values.first && failed > 0) break
  }
  console.log(`${policies.length - (failed > 0 ? 1 : 0)} passed, ${failed > 0 ? 1 : 0} failed`)
  if (failed > 0) process.exitCode = 1
}

function inThread(run: FaultRun): Promise<FaultTotals> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: run })
    thread.once('message', resolve)
    thread.once('error', reject)
  })
}

if (!isMainThread) parentPort!.postMessage(runFaults(workerData as FaultRun))
else if (import.meta.main) await main()
