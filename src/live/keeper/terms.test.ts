import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Keeper } from '../../keeper/keeper.ts'
import { StoreError } from '../../lib/errors.ts'
import { MemoryJobStore } from '../../store/memory.ts'
import type { JobStore } from '../../store/store.ts'
import { type TermParts, Terms, type TermsParts } from './terms.ts'

const times = { ttlMs: 100, renewMs: 5, askMs: 5, yieldMs: 0 }

async function until(isSo: () => boolean): Promise<void> {
  for (const limit = performance.now() + 20_000; !isSo(); await delay(1))
    assert.ok(performance.now() < limit, 'not in time')
}

/** The terms of a cluster: what has begun, and how often one has ended. */
function cluster(t: TestContext, store: JobStore, changes: Partial<TermsParts> = {}) {
  const begun: TermParts[] = []
  const lines: string[] = []
  const counts = { ended: 0 }
  const terms = new Terms({
    ...{ ...times, store, holder: 'this one', log: (line: string) => lines.push(line) },
    async begin(term, ending) {
      begun.push(term)
      ending.defer(() => {
        counts.ended++
      })
      return {} as Keeper
    },
    ...changes,
  })
  t.after(() => terms.close())
  return { terms, begun, lines, counts }
}

/** A store that fails, or belongs to another holder, as the test says. */
function wilful(store: JobStore) {
  const its = { fails: false }
  const lead: JobStore['lead'] = async (_holder, ttlMs) => {
    const fail = async <T>(then: () => Promise<T>) => {
      if (its.fails) throw new StoreError('the server cannot be reached')
      return then()
    }
    const lease = await fail(() => store.lead('wilful', ttlMs))
    return lease && { ...lease, renew: (ms) => fail(() => lease.renew(ms)) }
  }
  return Object.assign(its, { store: { lead } as JobStore })
}

test('a second cluster waits, and leads when the first one stops', async (t) => {
  const store = new MemoryJobStore()
  assert.ok(await store.lead('elsewhere', 60_000))
  const { terms, begun, lines } = cluster(t, store)
  await terms.start()
  assert.equal(terms.keeper, undefined)
  assert.match(lines[0]!, /another cluster keeps the requests of this store/)
  const other = await store.lead('elsewhere', 60_000)
  await other!.release()
  await until(() => terms.keeper !== undefined)
  assert.equal(begun[0]?.epoch, other!.epoch + 1)
})

test('a cluster that waits asks more often than a leader renews', async (t) => {
  const store = new MemoryJobStore()
  const other = await store.lead('elsewhere', 60_000)
  const { terms } = cluster(t, store, { renewMs: 2 ** 30 })
  await terms.start()
  await other!.release()
  await until(() => terms.keeper !== undefined)
})

test('a cluster says when its term begins, and when another one leads', async (t) => {
  const store = new MemoryJobStore()
  assert.ok(await store.lead('elsewhere', 60_000))
  const said: (number | undefined)[] = []
  const { terms, begun } = cluster(t, store, { led: (term) => said.push(term) })
  await terms.start()
  const other = await store.lead('elsewhere', 60_000)
  await other!.release()
  await until(() => begun.length === 1)
  begun[0]!.fenced()
  await until(() => begun.length === 2)
  const begins = said.filter((term) => term !== undefined)
  assert.deepEqual(begins, [other!.epoch + 1, other!.epoch + 2])
  assert.equal(said[said.indexOf(other!.epoch + 1) + 1], undefined, 'it said that it was fenced')
})

test('a lease that another cluster has taken ends the term; the next one begins when it is free', async (t) => {
  let clock = 0
  const store = new MemoryJobStore({ now: () => clock })
  const { terms, begun, lines, counts } = cluster(t, store)
  await terms.start()
  clock = times.ttlMs + 1
  // Unless it was renewed just now.
  while (!(await store.lead('elsewhere', 60_000))) clock += times.ttlMs
  await until(() => counts.ended === 1)
  assert.equal(terms.keeper, undefined)
  assert.match(lines.join(), /has taken over the store/)
  clock += 60_000
  await until(() => begun.length === 2)
  assert.equal(begun[1]!.epoch, 3)
})

test('a keeper whose lease cannot be renewed in time must not send jobs until it can', async (t) => {
  const subject = wilful(new MemoryJobStore())
  const { terms, begun, lines, counts } = cluster(t, subject.store)
  await terms.start()
  assert.equal(begun[0]!.leads(), true)
  subject.fails = true
  await until(() => !begun[0]!.leads())
  await until(() => /sends no jobs/.test(lines.join()))
  subject.fails = false
  await until(() => begun[0]!.leads())
  await until(() => /jobs are sent again/.test(lines.join()))
  assert.deepEqual([begun.length, counts.ended], [1, 0])
})

test('a store that fails at the start is an error, and later it is tried again', async (t) => {
  const first = wilful(new MemoryJobStore())
  first.fails = true
  await assert.rejects(cluster(t, first.store).terms.start(), /cannot be reached/)
  const later = wilful(new MemoryJobStore())
  const { terms, begun, lines } = cluster(t, later.store)
  await terms.start()
  later.fails = true
  begun[0]!.fenced()
  await until(() => /cannot be used/.test(lines.join()))
  later.fails = false
  await until(() => begun.length === 2)
})

test('a standby leaves the lease to others at first', async (t) => {
  const store = new MemoryJobStore()
  const { terms, lines } = cluster(t, store, { yieldMs: 50 })
  await terms.start()
  assert.match(lines[0]!, /a standby/)
  assert.equal(terms.keeper, undefined)
  assert.ok(await store.lead('the first', 0), 'the lease is free')
  await until(() => terms.keeper !== undefined)
})

test('a lease whose answer arrives too late gives no right to send jobs', async (t) => {
  const memory = new MemoryJobStore()
  const lead: JobStore['lead'] = async (holder, ttlMs) => {
    const lease = await memory.lead(holder, ttlMs)
    await delay(times.ttlMs + 20)
    return lease && { ...lease, renew: () => new Promise(() => {}), release: async () => {} }
  }
  const { terms, begun } = cluster(t, { lead } as JobStore, { renewMs: 60_000 })
  await terms.start()
  assert.equal(begun[0]!.leads(), false)
})
