/** Runs on a small file system of its own: fills it with jobs, and makes space again. */
import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteJobs } from '../sqlite.ts'
import { answerOf, bytesOf, epochOf, idsOf, newJob, rejectsWith } from './samples.ts'

console.log('mounted')
const folder = process.argv[2]!
const reserve = join(folder, 'reserve')
writeFileSync(reserve, Buffer.alloc(5 * 2 ** 20))
const store = await openSqliteJobs({ folder })
const epoch = await epochOf(store)
const body = Buffer.alloc(30_000, 'small')
const accepted: string[] = []
let problem: unknown
while (!problem) {
  const job = newJob(accepted.length, { body })
  await store.accept(epoch, job).then(
    () => accepted.push(job.id),
    (error: unknown) => {
      problem = error
    },
  )
}
assert.ok(accepted.length > 10)
const full = /job store .*: the disk is full\. Free some space/
await rejectsWith(Promise.reject(problem), 'STORE', full)
await rejectsWith(store.accept(epoch, newJob(-1, { body: Buffer.alloc(4_000_000) })), 'STORE', full)
assert.deepEqual(readdirSync(join(folder, 'contents')), [])
assert.deepEqual(await idsOf(store.open()), accepted)
assert.equal((await bytesOf(await store.body('job-3'))).length, body.length)

rmSync(reserve)
await store.accept(epoch, newJob(1_000, { body }))
await store.accept(epoch, newJob(1_001, { body: Buffer.alloc(100_000) }))
assert.equal(await store.answer(epoch, 'job-0', answerOf(0)), true)
await store.close()
const again = await openSqliteJobs({ folder })
assert.deepEqual(await idsOf(again.open()), [...accepted.slice(1), 'job-1000', 'job-1001'])
await again.close()
