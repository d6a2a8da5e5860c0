/** Checked by the compiler: `npm run types` fails if a client infers something else. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { defineWorkload, reply, type Workload } from '../../workload/workload.ts'
import type { Client } from './client.ts'
import type { InputOf, Jsonified, NameIn, ResultOf, WorkloadsOf } from './types.ts'

type Sums = typeof import('../fixtures/sums.ts')
type Sum = WorkloadsOf<Sums>['sum']

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(isSame: Same<A, B>) => assert.ok(isSame)

const plain = defineWorkload({ name: 'plain', description: '', run: ({ n }) => ({ n }) })
const given = defineWorkload<{ n: number }>({ name: 'given', description: '', run: ({ n }) => n })
const replies = defineWorkload({
  name: 'replies',
  description: '',
  run: async () => reply({ on: new Date(), big: [1] as const, left: undefined }),
})
const words = defineWorkload({
  name: 'words',
  description: '',
  async *run() {
    yield 'a'
  },
})
const chunks = defineWorkload({
  name: 'chunks',
  description: '',
  *run() {
    yield new Uint8Array(1)
  },
})
const mixed = defineWorkload({
  name: 'mixed',
  description: '',
  *run() {
    yield 'a'
    yield new Uint8Array(1)
  },
})

test('names, parameters and results follow from the type of a workload', () => {
  same<NameIn<Sums>, 'sum' | 'bytes' | 'words' | 'nothing' | 'sleeps'>(true)
  same<NameIn<typeof plain>, 'plain'>(true)
  same<NameIn<{ one: typeof plain; two: typeof replies }>, 'one' | 'two'>(true)
  same<InputOf<Sum>, { n: number; note?: string | undefined }>(true)
  same<InputOf<WorkloadsOf<Sums>['bytes']>, { times?: number }>(true)
  same<InputOf<typeof plain>, Record<string, unknown>>(true)
  same<InputOf<typeof given>, { n: number }>(true)
  same<ResultOf<typeof given>, unknown>(true)
  same<ResultOf<WorkloadsOf<Sums>['nothing']>, undefined>(true)
  same<ResultOf<WorkloadsOf<Sums>['sleeps']>, string>(true)
  same<ResultOf<typeof plain>, { n: unknown }>(true)
  same<ResultOf<typeof replies>, { on: string; big: readonly [1]; left: undefined }>(true)
  same<ResultOf<WorkloadsOf<Sums>['bytes']>, Uint8Array>(true)
  same<ResultOf<typeof words>, string>(true)
  same<ResultOf<typeof chunks>, Uint8Array>(true)
  same<ResultOf<typeof mixed>, unknown>(true)
  same<Jsonified<{ a: Date; b: () => void; c?: number[] }>, { a: string; c?: number[] | undefined }>(true)
  const any: Workload<{ n: number }> = given
  assert.equal(any.name, 'given')
})

test('wrong names and parameters do not compile', () => {
  const ask = (client: Client<Sums>) => [
    client.request('sum', { n: 1 }),
    client.request('nothing'),
    client.request('bytes', {}, { body: '' }),
    // @ts-expect-error No such workload.
    client.request('sun', { n: 1 }),
    // @ts-expect-error Parameters are missing.
    client.request('sum'),
    // @ts-expect-error A number is expected.
    client.estimate('sum', { n: '1' }),
    // @ts-expect-error An unknown parameter.
    client.request('sum', { n: 1, m: 2 }),
  ]
  assert.equal(typeof ask, 'function')
})
