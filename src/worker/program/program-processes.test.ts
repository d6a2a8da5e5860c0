/** The environment of programs, and processes that leave their process group. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { stateOf, until } from '../slots/testing/use-pool.ts'
import { oneLiner, usePrograms } from './testing/use-programs.ts'

function useVariables(t: TestContext, variables: Record<string, string>): void {
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
  })
}

test('programs see neither the token of the cluster nor other variables of the operator', async (t) => {
  useVariables(t, { PLIMSOLL_TOKEN: 'secret', STRIPE_KEY: 'secret', DATABASE_URL: 'postgres://' })
  const { ask } = await usePrograms(t, { env: { GIVEN: 'yes' } }, { passEnv: ['DATABASE_*'] })
  const names = JSON.parse((await ask('/env')).body!) as string[]
  for (const name of ['PATH', 'PORT', 'GIVEN', 'DATABASE_URL']) assert.ok(names.includes(name), name)
  for (const name of ['PLIMSOLL_TOKEN', 'STRIPE_KEY']) assert.ok(!names.includes(name), name)
})

test('a program that does not start is reported with the names of withheld variables, once', async (t) => {
  useVariables(t, { NEEDED_BY_PROGRAM: 'secret' })
  const command = oneLiner(`if (!process.env.NEEDED_BY_PROGRAM) throw new Error('no NEEDED_BY_PROGRAM')`)
  const { lines } = await usePrograms(t, { command, startMs: 1_000 })
  await until(() => lines.filter((line) => line.includes('next try')).length >= 2, 'it was tried twice')
  const told = lines.filter((line) => /^withheld environment variables: .*NEEDED_BY_PROGRAM/.test(line))
  assert.equal(told.length, 1)
  assert.doesNotMatch(told[0]!, /secret/)
})

async function escaped(t: TestContext) {
  const { pool, start } = await usePrograms(t)
  const run = start('/escape')
  const answer = await run.answer
  const [text] = answer.kind === 'http' ? await answer.body.take(1).toArray() : []
  const pid = Number(String(text))
  assert.ok(pid > 0 && stateOf(pid) !== undefined)
  t.after(() => {
    if (stateOf(pid) !== undefined) process.kill(pid, 'SIGKILL')
  })
  return { pool, run, pid }
}

test('a process that left its group and its parent ends when its program is killed', async (t) => {
  const { run, pid } = await escaped(t)
  run.cancel()
  await until(() => stateOf(pid) === undefined, 'it has ended')
})

test('a process that left its group and its parent ends with the pool', async (t) => {
  const { pool, pid } = await escaped(t)
  await pool.close()
  await until(() => stateOf(pid) === undefined, 'it has ended')
})
