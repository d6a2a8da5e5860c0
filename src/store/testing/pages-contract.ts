import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JobQuery, JobStore } from '../store.ts'
import { answerOf, idsOf, type MakeSubject, newJob, openLed, range, rejectsWith } from './samples.ts'

async function allPages(store: JobStore, query: JobQuery): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor: string | undefined; ; ) {
    const page = await store.list({ ...query, ...(cursor !== undefined && { cursor }) })
    pages.push(await idsOf(page.jobs))
    cursor = page.cursor
    if (cursor === undefined) return pages
  }
}

export function pagesContract(name: string, make: MakeSubject): void {
  test(`${name}: pages have the newest first, and the last one has no cursor`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    assert.deepEqual(await store.list({ limit: 5 }), { jobs: [] })
    for (const number of range(6)) await store.accept(epoch, newJob(number))
    const two = [
      ['job-5', 'job-4', 'job-3'],
      ['job-2', 'job-1', 'job-0'],
    ]
    assert.deepEqual(await allPages(store, { limit: 3 }), two)
    assert.deepEqual(await allPages(store, { limit: 4 }), [
      ['job-5', 'job-4', 'job-3', 'job-2'],
      ['job-1', 'job-0'],
    ])
  })

  test(`${name}: jobs accepted meanwhile do not move the next page`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of range(4)) await store.accept(epoch, newJob(number))
    const { cursor } = await store.list({ limit: 2 })
    await store.accept(epoch, newJob(9))
    await store.answer(epoch, 'job-2', answerOf(2))
    assert.deepEqual(await idsOf((await store.list({ limit: 2, cursor: cursor! })).jobs), ['job-1', 'job-0'])
  })

  test(`${name}: pages can be of one state, workload and client`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const number of range(12)) {
      const workload = number % 2 === 0 ? 'even' : 'odd'
      await store.accept(epoch, newJob(number, { workload, client: `client-${number % 3}` }))
      if (number < 4) await store.answer(epoch, `job-${number}`, answerOf(number))
      if (number > 9) await store.cancel(epoch, `job-${number}`, 5)
    }
    const ids = async (query: Partial<JobQuery>) => (await allPages(store, { limit: 2, ...query })).flat()
    assert.deepEqual(await ids({ state: 'answered' }), ['job-3', 'job-2', 'job-1', 'job-0'])
    assert.deepEqual(await ids({ state: 'cancelled' }), ['job-11', 'job-10'])
    assert.deepEqual(await ids({ workload: 'odd', state: 'open' }), ['job-9', 'job-7', 'job-5'])
    assert.deepEqual(await ids({ client: 'client-1' }), ['job-10', 'job-7', 'job-4', 'job-1'])
    assert.deepEqual(await ids({ client: 'client-1', workload: 'odd', state: 'open' }), ['job-7'])
    assert.deepEqual(await ids({ workload: "none' OR true" }), [])
  })

  test(`${name}: wrong cursors and limits are rejected by name`, async (t) => {
    const { store } = await openLed(t, await make(t))
    for (const cursor of [
      '',
      'abc',
      '*',
      `${Buffer.from('jobs:1x').toString('base64url')}`,
      'x'.repeat(500),
    ]) {
      const message = new RegExp(`cursor "${cursor.slice(0, 70).replace('*', '\\*')}`)
      await rejectsWith(store.list({ limit: 1, cursor }), 'STORE_QUERY', message)
    }
    for (const limit of [0, -1, 1.5, 10_001, Number.NaN]) {
      await rejectsWith(
        store.list({ limit }),
        'STORE_QUERY',
        new RegExp(`limit = ${limit}: must be a whole number`),
      )
    }
  })
}
