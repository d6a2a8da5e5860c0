/** Runs a target in a child process and watches it, so that an endless loop is found and ended. */

import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ChildPlan, Report } from './child.ts'
import type { Failure } from './fuzz.ts'
import { readJournal } from './journal.ts'
import type { Target } from './target.ts'

export interface WatchPlan {
  seed: number
  inputs?: number | undefined
  seconds?: number | undefined
  guided: boolean
}

export interface Result {
  target: string
  inputs: number
  behaviours: Record<string, number>
  failures: Failure[]
  reaching: Buffer[]
  slowestMs: number
  growthMb: number
  peakMb: number
  /** Characters of code that were reached; 0 without coverage. */
  reached: number
}

const lookEveryMs = 200
/** An input without any CPU time is stuck after this long, for example on an answer that never comes. */
const stuckMs = 60_000
/** The child's heap; a target that keeps what it reads hits the limit. */
const heapMb = 512
/** A target that keeps killing its process is given up. */
const mostDeaths = 5

export async function watchTarget(target: Target, plan: WatchPlan): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-fuzz-'))
  const result: Result = {
    ...{ target: target.name, inputs: 0, behaviours: {}, failures: [], reaching: [] },
    ...{ slowestMs: 0, growthMb: 0, peakMb: 0, reached: 0 },
  }
  const ends = performance.now() + (plan.seconds ?? Infinity) * 1000
  try {
    let from = 0
    for (let deaths = 0; deaths < mostDeaths; deaths++) {
      const failure = await runChild(target, folder, { ...plan, from, ms: ends - performance.now() }, result)
      if (!failure) break
      result.failures.push(failure)
      result.inputs += failure.number + 1 - from
      from = failure.number + 1
    }
    return result
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Undefined: it ended normally. Otherwise the input under which it hung or died. */
async function runChild(
  target: Target,
  folder: string,
  { seed, inputs, guided, from, ms }: WatchPlan & { from: number; ms: number },
  result: Result,
): Promise<Failure | undefined> {
  const journal = join(folder, 'input')
  const limits = {
    ...(inputs !== undefined && { to: inputs }),
    ...(ms < Infinity && { ms: Math.max(0, ms) }),
  }
  const plan: ChildPlan = { target: target.name, journal, seed, from, guided, ...limits }
  const child = fork(join(import.meta.dirname, 'child.ts'), [JSON.stringify(plan)], {
    execArgv: ['--expose-gc', `--max-old-space-size=${heapMb}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...process.env, TMPDIR: folder },
  })
  let isDone = false
  let last = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    last = `${last}${bytes}`.slice(-2000)
  })
  child.on('message', (report: Report) => {
    if (report.type === 'done') isDone = true
    take(report, result)
  })
  const hang = watchForHang(child, journal, target.cpuMs)
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.once('close', (code, signal) => resolve([code, signal])),
  )
  const why = hang.end()
  if (isDone) return undefined
  const entry = readJournal(journal) ?? { number: from, input: Buffer.alloc(0) }
  if (why !== undefined) return { ...entry, kind: 'hang', message: why }
  return { ...entry, kind: 'crash', message: `the process ended with ${signal ?? `code ${code}`}: ${last}` }
}

function take(report: Report, result: Result): void {
  if (report.type === 'failure') {
    const { kind, number, message, input } = report
    result.failures.push({ kind, number, message, input: Buffer.from(input, 'base64') })
    return
  }
  const { tally, reaching, growthMb, peakMb, reached } = report
  result.inputs += tally.inputs
  for (const [name, count] of Object.entries(tally.behaviours))
    result.behaviours[name] = (result.behaviours[name] ?? 0) + count
  result.reaching.push(...reaching.map((input) => Buffer.from(input, 'base64')))
  result.slowestMs = Math.max(result.slowestMs, tally.slowestMs)
  result.growthMb = Math.max(result.growthMb, growthMb)
  result.peakMb = Math.max(result.peakMb, peakMb)
  result.reached = Math.max(result.reached, reached)
}

/** Kills the child when one input uses up its CPU time, or lasts too long. `end` returns the reason, if it did. */
function watchForHang(child: ChildProcess, journal: string, cpuMs: number): { end(): string | undefined } {
  let why: string | undefined
  let seen = { number: -1, cpu: 0, at: performance.now() }
  const timer = setInterval(() => {
    const number = readJournal(journal)?.number
    const cpu = cpuMsOf(child.pid!)
    // Until the first input the target opens, for example by loading modules.
    if (number === undefined || number !== seen.number) {
      seen = { number: number ?? -1, cpu, at: performance.now() }
      return
    }
    if (cpu - seen.cpu > cpuMs) why = `not over after ${Math.round(cpu - seen.cpu)} ms of CPU time`
    else if (performance.now() - seen.at > stuckMs) why = `not over after ${stuckMs / 1000} s`
    if (why !== undefined) child.kill('SIGKILL')
  }, lookEveryMs)
  return {
    end() {
      clearInterval(timer)
      return why
    },
  }
}

/** CPU time of the whole process; 0 if it has ended, or without /proc. */
function cpuMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return 0
  }
}
