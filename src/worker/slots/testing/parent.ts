/** A process with slots in every state, to be killed by a test: prints its processes, then waits. */
import { readFileSync } from 'node:fs'
import { SlotPool } from '../slot-pool.ts'
import { fixture, isStopped, until } from './use-pool.ts'

const pool = new SlotPool({
  files: [fixture('basic.ts')],
  dataDir: process.argv[2]!,
  warm: 3,
  memoryMb: 256,
  log: () => {},
})
await pool.ready()
const start = (workload: string) => pool.start({ job: workload, attempt: 1, workload, params: {} })
const [running, stopped, family] = [start('spin'), start('spin'), start('family')]
await until(() => running.cpuMs() > 1 && stopped.cpuMs() > 1, 'the jobs run')
stopped.pause()
const answer = await family.answer
const child = answer.kind === 'result' ? Number((await answer.body.take(1).toArray())[0]) : 0
const fresh = start('spin')
await until(() => fresh.pid !== undefined, 'it has a slot')
fresh.pause()
await until(() => isStopped(stopped.pid!) && isStopped(fresh.pid!), 'two are stopped')
const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')
  .trim()
  .split(' ')
  .map(Number)
console.log(JSON.stringify({ pids: [...children, child], stopped: [stopped.pid, fresh.pid] }))
