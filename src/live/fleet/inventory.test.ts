import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Listed } from '../../model/provider.ts'
import { takeInventory } from './inventory.ts'

type Answer = ReturnType<typeof Promise.withResolvers<readonly Listed[]>>

/** An inventory that asks only on request, and a provider whose answers the test gives. */
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

test('a list carries the time of its request, and one is requested at a time', async (t) => {
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

test('a list that times out is requested again; if it arrives late, it carries the time of its request', async (t) => {
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
  assert.deepEqual(lines, ["fleet: the provider's list is unavailable: no answer for 5 s"])
})

test('a failed list is not taken for an empty one, and is logged once', async (t) => {
  const { it, answers, told, lines } = inventory(t)
  for (let i = 0; i < 3; i++) {
    it.ask()
    answers[i]!.reject(new Error('no access'))
    await turn()
  }
  assert.deepEqual(told, [])
  assert.deepEqual(lines, ["fleet: the provider's list is unavailable: no access"])
})

test('lists are requested periodically, and neither requested nor reported after closing', async (t) => {
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
