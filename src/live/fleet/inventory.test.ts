import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { takeInventory } from './inventory.ts'
import type { Listed } from './provider.ts'

type Answer = ReturnType<typeof Promise.withResolvers<readonly Listed[]>>

/** An inventory that asks only when told to, of a provider whose answers the test gives. */
function inventory(t: TestContext) {
  const answers: Answer[] = []
  const told: { launches: string[]; askedAt: number }[] = []
  const lines: string[] = []
  const time = { now: 0 }
  const list = () => {
    answers.push(Promise.withResolvers())
    return answers.at(-1)!.promise
  }
  const it = takeInventory({
    provider: { list },
    everyMs: 2 ** 30,
    limitMs: 5000,
    now: () => time.now,
    tell: ({ launches, askedAt }) => told.push({ launches, askedAt }),
    log: (line) => lines.push(line),
  })
  t.after(() => it.close())
  return { it, answers, told, lines, time }
}

test('a list is told with the time at which it was asked for, and one is asked for at a time', async (t) => {
  const { it, answers, told, time } = inventory(t)
  it.ask()
  time.now = 3000
  it.ask()
  assert.equal(answers.length, 1)
  answers[0]!.resolve([{ launch: '1-1', since: 7 }])
  await turn()
  assert.deepEqual(told, [{ launches: ['1-1'], askedAt: 0 }])
  it.ask()
  assert.equal(answers.length, 2)
})

test('an answer that does not come is not waited for; if it comes later it is told for its time', async (t) => {
  const { it, answers, told, lines, time } = inventory(t)
  it.ask()
  time.now = 5000
  it.ask()
  assert.equal(answers.length, 2)
  answers[1]!.resolve([])
  await turn()
  answers[0]!.resolve([])
  await turn()
  assert.deepEqual(
    told.map(({ askedAt }) => askedAt),
    [5000, 0],
  )
  assert.deepEqual(lines, ["fleet: the provider's list cannot be had: no answer for 5 s"])
})

test('a provider that cannot tell is not taken to have nothing, and the trouble is said once', async (t) => {
  const { it, answers, told, lines } = inventory(t)
  for (let i = 0; i < 3; i++) {
    it.ask()
    answers[i]!.reject(new Error('no access'))
    await turn()
  }
  assert.deepEqual(told, [])
  assert.deepEqual(lines, ["fleet: the provider's list cannot be had: no access"])
})

test('it asks by itself, and after its end neither asks nor tells', async (t) => {
  const news = new EventEmitter()
  const list = async () => {
    news.emit('asked')
    return []
  }
  let told = 0
  const it = takeInventory({
    ...{ provider: { list }, everyMs: 1, limitMs: 1000, now: () => 0 },
    tell: () => void told++,
    log: () => {},
  })
  t.after(() => it.close())
  await once(news, 'asked')
  it.close()
  const before = told
  it.ask()
  await turn()
  assert.equal(told, before)
})
