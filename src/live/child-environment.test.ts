import assert from 'node:assert/strict'
import { test } from 'node:test'
import { childEnvironment, servingEnvironment } from './child-environment.ts'

const all = { PATH: '/bin', PLIMSOLL_WORKER_TOKEN: 'secret' }

test('children get the environment without tokens', () => {
  assert.deepEqual(childEnvironment(all), { PATH: '/bin' })
})

test('brain and fronts return large pieces of memory at once, unless the operator has set it otherwise', () => {
  assert.deepEqual(servingEnvironment(all), { PATH: '/bin', MALLOC_MMAP_THRESHOLD_: '262144' })
  const set = { ...all, MALLOC_MMAP_THRESHOLD_: '1000000' }
  assert.deepEqual(servingEnvironment(set), { PATH: '/bin', MALLOC_MMAP_THRESHOLD_: '1000000' })
})

test('the brain does not pass its own setting on to workers, whose programs could receive it', () => {
  assert.deepEqual(childEnvironment(servingEnvironment(all)), { PATH: '/bin' })
  const set = { MALLOC_MMAP_THRESHOLD_: '1000000' }
  assert.deepEqual(childEnvironment(servingEnvironment(set)), set)
})
