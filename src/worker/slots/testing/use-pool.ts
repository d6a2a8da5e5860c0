/** A pool with its own data directory for one test; both are removed when the test ends. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobRun } from '../../job-run.ts'
import { SlotPool, type SlotPoolOptions } from '../slot-pool.ts'

export const fixture = (name: string) => join(import.meta.dirname, '../fixtures', name)

export interface TestPool {
  pool: SlotPool
  lines: string[]
  start(workload: string, params?: unknown): JobRun
  /** The answer of a job, with its body as text. */
  ask(workload: string, params?: unknown): Promise<Record<string, unknown>>
}

export async function usePool(t: TestContext, options: Partial<SlotPoolOptions> = {}): Promise<TestPool> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-slots-'))
  const lines: string[] = []
  const pool = new SlotPool({
    files: [fixture('basic.ts')],
    dataDir,
    warm: 1,
    memoryMb: 256,
    log: (line) => lines.push(line),
    ...options,
  })
  t.after(async () => {
    await pool.close()
    rmSync(dataDir, { recursive: true })
  })
  let jobs = 0
  const start = (workload: string, params: unknown = {}) =>
    pool.start({ job: `job-${++jobs}`, attempt: 1, workload, params })
  await pool.ready()
  return { pool, lines, start, ask: (workload, params) => read(start(workload, params)) }
}

export async function read(run: JobRun): Promise<Record<string, unknown>> {
  const answer = await run.answer
  return answer.kind === 'result' ? { ...answer, body: await text(answer.body) } : answer
}

/** Polls until a condition holds, for state that no event reports. The deadline only ends a test that would hang. */
export async function until(holds: () => boolean, condition: string): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for: ${condition}`)
    await delay(2)
  }
}

/** The state of a process as a letter, for instance T for stopped; undefined if it has ended. */
export function stateOf(pid: number): string | undefined {
  try {
    const state = /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]
    return state === 'Z' || state === 'X' ? undefined : state
  } catch {
    return undefined
  }
}

/** Whether all threads of a process are stopped. */
export function isStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'latin1')
    return /\) T/.test(stat)
  })
}
