/** The age of a running job's last progress report, sampled by its supervisor at random times. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stream } from '../../src/lib/random.ts'
import { SlotPool } from '../../src/worker/slots/slot-pool.ts'
import { loadWorkloads } from '../../src/workload/load.ts'
import type { MeterCase } from './case.ts'

export interface Age {
  p99: number
  max: number
}

const meanGapMs = 4

/** Runs the longest requests of each workload in a slot. */
export async function ages(
  names: readonly string[],
  quick: boolean,
): Promise<Age & { byName: Record<string, Age> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'))
  const files = names.map((name) => fileURLToPath(new URL(`../../workloads/${name}.ts`, import.meta.url)))
  const packages = (await loadWorkloads(files)).flatMap((workload) => workload.meter.packages)
  const pool = new SlotPool({
    files,
    dataDir,
    warm: 1,
    memoryMb: 1024,
    metered: { packages },
    log: console.error,
  })
  const random = stream(1, 'instants')
  const byName: Record<string, number[]> = {}
  try {
    await pool.ready()
    for (const name of names) {
      byName[name] = []
      for (const { params, body } of await longest(name, quick ? 1 : 3)) {
        const bytes = body?.()
        const startedAt = now()
        const request = { job: `${name}-${startedAt}`, attempt: 1, workload: name, params }
        const run = pool.start({ ...request, ...(bytes && { body: Readable.from([bytes]) }) })
        let over = false
        const ended = run.ended.then(() => {
          over = true
        })
        const answer = await Promise.race([run.answer, sleep(0)])
        if (answer && answer.kind !== 'result') throw new Error(`${name}: ${JSON.stringify(answer)}`)
        void run.answer.then((it) => it.kind === 'result' && it.body.resume())
        while (!over) {
          await Promise.race([ended, sleep(meanGapMs * random.exponential())])
          // Before the first report, the age of the job.
          if (!over) byName[name].push(now() - (run.work()?.at ?? startedAt))
        }
      }
    }
  } finally {
    await pool.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
  const all = Object.values(byName).flat()
  return { ...ageOf(all), byName: Object.fromEntries(names.map((name) => [name, ageOf(byName[name]!)])) }
}

async function longest(name: string, count: number): Promise<MeterCase[]> {
  const { cases } = (await import(`./${name}.ts`)) as { cases: MeterCase[] }
  return cases.slice(-count)
}

function ageOf(values: number[]): Age {
  const sorted = values.toSorted((a, b) => a - b)
  return { p99: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, max: sorted.at(-1) ?? 0 }
}

function now(): number {
  return performance.timeOrigin + performance.now()
}
