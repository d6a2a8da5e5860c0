import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { defaultFormula, workOf } from '../../model/metrics.ts'
import type { JobRun } from '../job-run.ts'
import type { SlotPoolOptions } from './slot-pool.ts'
import { fixture, isStopped, read, type TestPool, until, usePool } from './testing/use-pool.ts'

const usePoolOf = (t: TestContext, options: Partial<SlotPoolOptions> = {}) =>
  usePool(t, { files: [fixture('metered.ts')], ...options })

async function workOfJob({ start }: TestPool, workload: string, params: unknown): Promise<number> {
  const run = start(workload, params)
  assert.equal((await read(run)).kind, 'result')
  return (await run.ended).work!
}

/** Resolves after this number of reports of the meter. */
function reports(run: JobRun, times: number): Promise<void> {
  let count = 0
  return new Promise((resolve) => {
    run.onWork = () => {
      if (++count === times) resolve()
    }
  })
}

/** Never ends. */
const long = { n: 1e15 }

test('work grows while a job computes without yielding, and is kept when the job is cancelled', async (t) => {
  const { start } = await usePoolOf(t)
  const run = start('crunch', long)
  const seen: number[] = []
  for (let i = 0; i < 5; i++) {
    await reports(run, 1)
    const { work, at } = run.work()!
    assert.ok(Math.abs(at - Date.now()) < 60_000)
    seen.push(work)
  }
  assert.deepEqual(
    seen,
    [...new Set(seen)].sort((a, b) => a - b),
  )
  run.cancel()
  const { work } = await run.ended
  assert.ok(work! >= seen.at(-1)!)
})

test('work also grows if a job computes only briefly at a time', async (t) => {
  const { start } = await usePoolOf(t)
  const run = start('bit-by-bit', { n: 100 })
  await reports(run, 2)
  const { work } = run.work()!
  await reports(run, 2)
  assert.ok(run.work()!.work > work)
  run.cancel()
})

test('the same request is the same work, in a fresh slot, a used one and after a pause', async (t) => {
  const tested = await usePoolOf(t)
  const params = { n: 6e7 }
  const fresh = await workOfJob(tested, 'crunch', params)
  assert.ok(fresh > params.n)
  assert.equal(await workOfJob(tested, 'crunch', params), fresh)
  const paused = tested.start('crunch', params)
  let hasEnded = false
  const over = paused.ended.then((usage) => {
    hasEnded = true
    return usage
  })
  // On a fast machine the job may end earlier.
  for (let i = 0; i < 3 && !hasEnded; i++) {
    await Promise.race([reports(paused, 1), over])
    paused.pause()
    await until(() => hasEnded || isStopped(paused.pid!), 'its process is stopped')
    paused.resume()
  }
  assert.equal((await over).work, fresh)
})

test('work done while the answer is streamed counts', async (t) => {
  const tested = await usePoolOf(t)
  const [less, more] = [
    await workOfJob(tested, 'stream', { n: 1e5 }),
    await workOfJob(tested, 'stream', { n: 2e5 }),
  ]
  assert.ok(more > 1.9 * less && less > 1e5)
})

test('the work of a job that fails or exits is known', async (t) => {
  const tested = await usePoolOf(t)
  const whole = await workOfJob(tested, 'crunch', { n: 1e5 })
  for (const [how, kind] of [
    ['throw', 'error'],
    ['exit', 'crash'],
  ] as const) {
    const run = tested.start('crash', { n: 1e5, how })
    assert.equal((await run.answer).kind, kind)
    const { work } = await run.ended
    assert.ok(work! > 0.99 * whole && work! < 1.01 * whole, `${how}: ${work} of ${whole}`)
  }
})

test('a charge adds to the work, and an invalid charge is an error', async (t) => {
  const tested = await usePoolOf(t)
  const nothing = await workOfJob(tested, 'charge', { units: 0 })
  assert.equal(await workOfJob(tested, 'charge', { units: 1e9 }), nothing + 1e9)
  for (const units of [-1, '5', null]) {
    const { kind, message } = await tested.ask('charge', { units })
    assert.equal(kind, 'error')
    assert.equal(message, `charge(${units}): must be a finite number of at least 0`)
  }
})

test('with the meter off, work is unknown', async (t) => {
  const { start } = await usePoolOf(t, { meter: 'off' })
  const run = start('crunch', { n: 1000 })
  const { cpuMs, work, tally } = await run.ended
  assert.ok(cpuMs > 0)
  assert.deepEqual([run.work(), work, tally], [undefined, undefined, undefined])
})

test('mode regions counts each metric, and reports tallies while the job runs if requested', async (t) => {
  const { pool } = await usePoolOf(t, { meter: { mode: 'regions', formula: defaultFormula } })
  const request = { job: 'j', attempt: 1, workload: 'crunch', params: long }
  const run = pool.start({ ...request, tallies: true })
  await reports(run, 2)
  const { work, tally } = run.work()!
  assert.ok(tally!.blocks! > 0 && tally!.instructions! > 0)
  assert.equal(workOf(tally!, defaultFormula), work)
  run.cancel()
  const quiet = pool.start(request)
  await reports(quiet, 1)
  assert.equal(quiet.work()!.tally, undefined)
  quiet.cancel()
  const ended = await pool.start({ ...request, params: { n: 1000 } }).ended
  assert.equal(workOf(ended.tally!, defaultFormula), ended.work)
})

test('configured packages are metered', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-packages-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const packageFolder = join(folder, 'node_modules', 'counted')
  mkdirSync(packageFolder, { recursive: true })
  writeFileSync(
    join(packageFolder, 'index.js'),
    'exports.count = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i; return sum }\n',
  )
  const file = join(folder, 'uses.mjs')
  writeFileSync(
    file,
    "import { count } from 'counted'\nexport default { name: 'uses', description: '', run: ({ n }) => count(n) }\n",
  )
  const [without, within] = [
    await usePool(t, { files: [file] }),
    await usePool(t, { files: [file], metered: { packages: ['counted'] } }),
  ]
  assert.ok((await workOfJob(without, 'uses', { n: 1e5 })) < 1000)
  assert.ok((await workOfJob(within, 'uses', { n: 1e5 })) > 1e5)
})

test('CommonJS workloads and what they require are metered', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-commonjs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const count = 'function (n) { let sum = 0; for (let i = 0; i < n; i++) sum += i; return sum }'
  writeFileSync(join(folder, 'count.js'), `exports.count = ${count}\n`)
  const uses = (name: string, type: string) =>
    `const { count }${type} = require('./count')\nmodule.exports = { name: '${name}', description: '', run: ({ n }) => count(n) }\n`
  const files = [join(folder, 'js.cjs'), join(folder, 'ts.cts')]
  writeFileSync(files[0]!, uses('js', ''))
  writeFileSync(files[1]!, uses('ts', ': { count(n: number): number }'))
  const pool = await usePool(t, { files })
  const works = [await workOfJob(pool, 'js', { n: 1e5 }), await workOfJob(pool, 'ts', { n: 1e5 })]
  assert.ok(works[0]! > 1e5)
  assert.equal(works[0], works[1])
})

test('later slots use the cache of rewritten code, and the first slot is not reused', async (t) => {
  const { NODE_COMPILE_CACHE } = process.env
  delete process.env.NODE_COMPILE_CACHE
  t.after(() => NODE_COMPILE_CACHE !== undefined && Object.assign(process.env, { NODE_COMPILE_CACHE }))
  const { pool, start } = await usePoolOf(t, { warm: 0 })
  const first = start('crunch', { n: 1 })
  await first.ended
  const second = start('crunch', { n: 1 })
  await second.ended
  // The first slot had to rewrite the code, so it is not reused; the second is.
  assert.notEqual(second.pid, first.pid)
  assert.equal(start('crunch', { n: 1 }).pid, second.pid)
  await until(() => pool.size === 1, 'the first slot has ended')
})
