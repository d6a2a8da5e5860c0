import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ConfigError } from '../../lib/errors.ts'
import { brainOf } from '../../systems/brain-spec.ts'
import { only, sent, Trial } from '../testing/trial.ts'
import { otherClients, Shares } from './client-shares.ts'

fc.configureGlobal({ seed: 1 })

/** One worker of one core, and 1,000 units a second. */
function fair(): Trial {
  const trial = new Trial({ scheduler: 'srpt', fair: true })
  trial.joins('w')
  return trial
}

/** Lets time pass in small steps, with a tick after each. */
function passes(trial: Trial, ms: number): Trial {
  for (let i = 0; i < ms; i += 100) trial.after(100).tick()
  return trial
}

const running = (trial: Trial) =>
  trial.view.workers.flatMap(({ jobs }) => jobs.filter((job) => job.running).map((job) => job.job))

test("a job of a client over its share is preempted by another client's, even by a longer one", () => {
  const trial = fair()
  trial.arrives('a1', { client: 'a', work: 9000 })
  passes(trial, 5000)
  assert.deepEqual(running(trial), ['a1'])
  const [run] = only(trial.arrives('b1', { client: 'b', work: 8000 }), 'run')
  assert.deepEqual(run?.reason.code, 'fairer')
  assert.deepEqual(running(trial), ['b1'])
  const [put] = only(trial.history, 'rank')
  assert.deepEqual(
    [put?.job, put?.reason.code, put?.reason.percent, put?.reason.clients],
    ['a1', 'over-share', 100, 2],
  )
  assert.ok(put!.precedence.tier > 0)
})

test('the shortest job goes first within a client, and among clients with equal shares', () => {
  const trial = fair()
  trial.arrives('a1', { client: 'a', work: 5000 })
  trial.arrives('a2', { client: 'a', work: 1000 })
  assert.deepEqual(running(trial), ['a2'])
  trial.arrives('b1', { client: 'b', work: 400 })
  assert.deepEqual(running(trial), ['b1'])
})

test('a single client is never over its share', () => {
  const trial = fair()
  for (let i = 0; i < 5; i++) trial.arrives(`a${i}`, { client: 'a', work: 3000 + i })
  passes(trial, 4000)
  const reasons = only(trial.history, 'rank').map(({ reason }) => reason.code)
  assert.deepEqual([...new Set(reasons)], ['turn-over'])
})

test('work done long ago no longer counts', () => {
  const trial = fair()
  trial.arrives('a1', { client: 'a', work: 2000 })
  trial.after(2000).finishes('a1')
  passes(trial, 100_000)
  trial.arrives('a2', { client: 'a', work: 1000 })
  trial.arrives('b1', { client: 'b', work: 1500 })
  assert.deepEqual(running(trial), ['a2'])
})

test('two clients that saturate the cluster get equal shares, whatever their job sizes', () => {
  const trial = fair()
  const had = { a: 0, b: 0 }
  const sizes = { a: 50, b: 2000 }
  let count = 0
  const ask = (client: 'a' | 'b') => trial.arrives(`${client}${count++}`, { client, work: sizes[client] })
  for (let i = 0; i < 4; i++) {
    ask('a')
    ask('b')
  }
  const left = new Map<string, number>()
  for (let at = 0; at < 120_000; at += 50) {
    trial.after(50).tick()
    for (const id of running(trial)) {
      const client = id[0] as 'a' | 'b'
      had[client] += 50
      left.set(id, (left.get(id) ?? sizes[client]) - 50)
      if (left.get(id)! <= 0) {
        trial.tell({ type: 'finished', work: sizes[client], ...trial.at(id) })
        ask(client)
      }
    }
  }
  const share = had.a / (had.a + had.b)
  assert.ok(share > 0.4 && share < 0.6, `${share}`)
})

test('fairness is rejected under disciplines that do not rank jobs', () => {
  const trial = new Trial({ scheduler: 'least-connections' })
  assert.throws(
    () => brainOf({ ...trial.spec, fair: true }),
    new ConfigError('fair: needs workers that rank their jobs; sharing does not'),
  )
  assert.deepEqual(sent(trial.history), [])
})

test('the number of shares is bounded, however many names clients have', () => {
  const shares = new Shares(true, 100)
  for (let i = 0; i < 10_000; i++) shares.shareOf(shares.nameOf(`client ${i}`), 0)
  assert.equal(shares.clients.size, 101)
  assert.equal(shares.nameOf('client 7'), 'client 7')
  assert.equal(shares.nameOf('client 9999'), otherClients)
})

test('jobs of clients beyond the bound count together, and leave nothing behind', () => {
  const trial = fair()
  const names = Array.from({ length: 10_050 }, (_, i) => `c${i}`)
  for (const name of names) {
    trial.arrives(name, { client: name, work: 1 })
    trial.tell({ type: 'cancelled', job: name })
  }
  assert.equal(trial.view.leftBehind(), undefined)
})
