import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerOf, idsOf, keepAll, type MakeSubject, newJob, openLed, range, startedAt } from './samples.ts'

const keyed = (number: number, key: string, fingerprint = 'same', client = 'client') =>
  newJob(number, { client, idempotency: { key, fingerprint } })

export function keysContract(name: string, make: MakeSubject): void {
  test(`${name}: a repeat with the same key is the same job`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    assert.deepEqual(await store.accept(epoch, keyed(1, 'key')), { kind: 'accepted' })
    const repeat = await store.accept(epoch, keyed(2, 'key'))
    assert.equal(repeat.kind, 'repeated')
    assert.deepEqual(repeat.job, await store.job('job-1'))
    assert.equal(repeat.job.idempotencyKey, 'key')
    await store.answer(epoch, 'job-1', answerOf(1))
    const later = await store.accept(epoch, keyed(3, 'key'))
    assert.equal(later.kind === 'repeated' && later.job.state, 'answered')
    assert.deepEqual(await store.byKey('client', 'key'), await store.job('job-1'))
    assert.equal(await store.job('job-2'), undefined)
  })

  test(`${name}: the same key with another request is a conflict; keys belong to their clients`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await store.accept(epoch, keyed(1, 'key'))
    const conflict = await store.accept(epoch, keyed(2, 'key', 'other'))
    assert.equal(conflict.kind === 'conflict' && conflict.job.id, 'job-1')
    assert.deepEqual(await store.accept(epoch, keyed(3, 'key', 'other', 'neighbour')), { kind: 'accepted' })
    assert.deepEqual(await store.accept(epoch, keyed(4, 'other key')), { kind: 'accepted' })
    assert.equal((await store.byKey('neighbour', 'key'))?.id, 'job-3')
    assert.equal(await store.byKey('stranger', 'key'), undefined)
  })

  test(`${name}: of repeats that race, one is accepted`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const fingerprints = range(30).map((number) => (number % 3 === 0 ? 'odd' : 'same'))
    const outcomes = await Promise.all(
      fingerprints.map((fingerprint, number) => store.accept(epoch, keyed(number, 'key', fingerprint))),
    )
    const accepted = outcomes.findIndex(({ kind }) => kind === 'accepted')
    for (const [number, outcome] of outcomes.entries()) {
      if (number === accepted) continue
      const isSame = fingerprints[number] === fingerprints[accepted]
      assert.equal(outcome.kind, isSame ? 'repeated' : 'conflict')
      assert.equal(outcome.job?.id, `job-${accepted}`)
    }
    assert.deepEqual(await idsOf(store.open()), [`job-${accepted}`])
  })

  test(`${name}: an accept that is repeated with its id and key is accepted again`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const twice = [store.accept(epoch, keyed(1, 'key')), store.accept(epoch, keyed(1, 'key'))]
    assert.deepEqual(await Promise.all(twice), [{ kind: 'accepted' }, { kind: 'accepted' }])
    assert.deepEqual(await store.accept(epoch, keyed(1, 'key')), { kind: 'accepted' })
    assert.deepEqual(await idsOf(store.open()), ['job-1'])
  })

  test(`${name}: a key is forgotten with its job`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    await store.accept(epoch, keyed(1, 'key'))
    await store.cancel(epoch, 'job-1', startedAt)
    await store.sweep(epoch, startedAt + 11, { ...keepAll, keepMs: 0, rememberMs: 10 })
    assert.equal(await store.byKey('client', 'key'), undefined)
    assert.deepEqual(await store.accept(epoch, keyed(2, 'key', 'other')), { kind: 'accepted' })
  })
}
