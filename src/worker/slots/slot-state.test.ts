/** Jobs that change their process disturb no other job: their slot is not reused. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { fixture, usePool } from './testing/use-pool.ts'

const files = [fixture('changes.ts')]

const spoiling: [what: string, reported: RegExp][] = [
  ['global', /globalThis\.leaked/],
  ['prototype', /Object\.prototype\.evil/],
  ['replaced', /Array\.prototype\.toReversed/],
  ['math', /Math\.random/],
  ['json', /JSON\.stringify/],
  ['env', /process\.env\.LANG/],
  ['unset', /process\.env\.PATH/],
  ['cwd', /the working directory/],
  ['interval', /an active timer/],
  ['listener', /listeners of process for SIGUSR2/],
  ['deaf', /listeners of process for uncaughtException/],
  ['child', /a child process/],
  ['server', /a listening server/],
  ['console', /console\.log/],
  ['push', /Array\.prototype\.push/],
  ['slice', /Array\.prototype\.slice/],
  ['iterator', /Array\.prototype\.Symbol\(Symbol\.iterator\)/],
  ['swapped', /globalThis\.leaked/],
  ['frozen', /Object\.prototype \(frozen\)/],
  ['parent', /the prototype of Array\.prototype/],
  ['usurped', /listeners of process for uncaughtException/],
]

for (const [what, reported] of spoiling) {
  test(`a slot whose job leaves a change is not reused: ${what}`, async (t) => {
    const { ask, start, lines } = await usePool(t, { files })
    const spoiled = start('change', { what })
    await spoiled.ended
    const next = start('inspect')
    const answer = await next.answer
    assert.equal(answer.kind, 'result')
    assert.notEqual(next.pid, spoiled.pid)
    await next.ended
    const { body } = await ask('inspect')
    assert.deepEqual(JSON.parse(body as string), {
      leaked: null,
      evil: false,
      reversed: [2, 1],
      polyfilled: true,
    })
    await start('change', { what }).ended
    const told = lines.filter((line) => line.includes('changed its process'))
    assert.equal(told.length, 1, 'it is reported once')
    assert.match(told[0]!, /^workload change: a job changed its process \(/)
    assert.match(told[0]!, reported)
  })
}

const harmless = [
  ...['nothing', 'cache', 'lazyGlobals', 'fetched', 'unreferenced', 'timer', 'immediate', 'symbol'],
  ...['restored', 'printed', 'lateModule', 'closedServer', 'finishedChild'],
]

test('slots are reused after jobs that leave nothing that others would notice', async (t) => {
  const { start, lines } = await usePool(t, { files })
  const pids = new Set<number | undefined>()
  for (const what of [...harmless, ...harmless]) {
    const run = start('change', { what })
    assert.equal((await run.answer).kind, 'result', what)
    await run.ended
    pids.add(run.pid)
  }
  assert.deepEqual(
    lines.filter((line) => line.includes('changed its process')),
    [],
  )
  assert.ok(pids.size <= 2, 'the warm slot, and the one started when it received a job')
})

test('workloads see neither the token of the cluster nor other variables of the operator', async (t) => {
  const added = { PLIMSOLL_TOKEN: 'secret', DATABASE_URL: 'secret', STRIPE_KEY: 'secret' }
  Object.assign(process.env, added)
  t.after(() => {
    for (const name of Object.keys(added)) delete process.env[name]
  })
  const { ask } = await usePool(t, { files, passEnv: ['DATABASE_URL'] })
  const names = JSON.parse((await ask('environment')).body as string) as string[]
  assert.ok(names.includes('PATH') && names.includes('DATABASE_URL'))
  assert.deepEqual(
    names.filter((name) => name in added && name !== 'DATABASE_URL'),
    [],
  )
})

test('workloads that do not load are reported with the names of withheld variables', async (t) => {
  process.env.NEEDED_BY_MODULE = 'secret'
  t.after(() => delete process.env.NEEDED_BY_MODULE)
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  await assert.rejects(usePool(t, { files: [fixture('broken.ts')], log }))
  const told = lines.filter((line) => /withheld environment variables: .*NEEDED_BY_MODULE/.test(line))
  assert.equal(told.length, 1)
  assert.doesNotMatch(told[0]!, /secret/)
})
