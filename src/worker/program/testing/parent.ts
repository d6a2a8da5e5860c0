/** A process with programs in every state, to be killed by a test: prints its processes, then waits. */
import { readFileSync } from 'node:fs'
import { isStopped, until } from '../../slots/testing/use-pool.ts'
import { ProgramPool } from '../program-pool.ts'
import { fixture, jobOf, serverDefaults } from './use-programs.ts'

const pool = new ProgramPool({
  server: { ...serverDefaults, command: [process.execPath, fixture('server.mjs'), '--socket', '{socket}'] },
  warm: 1,
  slots: 2,
  memoryMb: 512,
  log: () => {},
})
const [stopped, family] = [pool.start(jobOf('/spin?ms=1e9')), pool.start(jobOf('/family'))]
await until(() => stopped.cpuMs() > 1, 'the job runs')
stopped.pause()
const answer = await family.answer
const child = answer.kind === 'http' ? Number((await answer.body.take(1).toArray())[0]) : 0
await until(() => isStopped(stopped.pid!), 'one is stopped')
const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')
  .trim()
  .split(' ')
  .map(Number)
const [, socket] = /--socket\0([^\0]+)/.exec(readFileSync(`/proc/${stopped.pid}/cmdline`, 'utf8'))!
console.log(JSON.stringify({ pids: [...children, child], socket }))
