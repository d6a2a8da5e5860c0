/** A process with slots in every state, to be killed by a test: prints its processes, then waits. */
import { readFileSync } from 'node:fs'
import type { JobRun } from '../../job-run.ts'
import { SlotPool } from '../slot-pool.ts'
import { fixture, isStopped, until } from './use-pool.ts'

const pool = new SlotPool({
  files: [fixture('basic.ts'), fixture('changes.ts')],
  dataDir: process.argv[2]!,
  warm: 3,
  memoryMb: 256,
  log: () => {},
})
await pool.ready()
const start = (workload: string) => pool.start({ job: workload, attempt: 1, workload, params: {} })
const runaway = start('escape')
const [running, stopped, family] = [start('spin'), start('spin'), start('family')]
await until(() => running.cpuMs() > 1 && stopped.cpuMs() > 1, 'the jobs run')
stopped.pause()
const [child, escaped] = await Promise.all([family, runaway].map(firstNumber))
const fresh = start('spin')
await until(() => fresh.pid !== undefined, 'it has a slot')
fresh.pause()
await until(() => isStopped(stopped.pid!) && isStopped(fresh.pid!), 'two are stopped')
const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')
  .trim()
  .split(' ')
  .map(Number)
console.log(JSON.stringify({ pids: [...children, child, escaped], stopped: [stopped.pid, fresh.pid] }))
/** The first chunk of its answer. */
async function firstNumber({ answer }: JobRun): Promise<number> {
  const result = await answer
  return result.kind === 'result' ? Number(String((await result.body.take(1).toArray())[0])) : 0
}
