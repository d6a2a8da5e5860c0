import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkConfig } from '../../config/check.ts'
import { firstPath, firstRequest } from './first-request.ts'

/** A cluster whose estimates have these statuses. */
function cluster(statuses: Record<string, number>) {
  return async (path: string) => {
    const status = statuses[path]
    if (status === undefined) throw new Error('gone')
    return status
  }
}

test('suggests the first workload that needs no parameters, or the list of all', async () => {
  const some = cluster({ '/-/estimate/fibonacci': 400, '/-/estimate/hello': 200 })
  assert.equal(await firstRequest(some, ['fibonacci', 'hello']), '/hello')
  assert.equal(await firstRequest(some, ['fibonacci']), '/-/workloads')
  assert.equal(await firstRequest(some, ['gone', 'hello']), '/-/workloads')
  assert.equal(await firstRequest(some, ['factorize', 'hello']), '/factorize?n=999985999949')
})

test('suggests the health check of an existing server if a route leads there', () => {
  const path = (routes?: unknown, health?: string) => {
    const { own } = checkConfig({ workers: { command: 'app {port}', health }, routes }, import.meta.dirname)
    return firstPath(own!)
  }
  assert.equal(path(), '/')
  assert.equal(path(undefined, '/health?deep=1'), '/health?deep=1')
  assert.equal(path([{ name: 'render', path: '/render/:scene' }], '/health'), '/-/workloads')
  assert.equal(path([{ name: 'write', path: '/**', methods: ['POST'] }], '/health'), '/-/workloads')
})
