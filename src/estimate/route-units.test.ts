import assert from 'node:assert/strict'
import test from 'node:test'
import { chain } from './chain.ts'
import { constant } from './constant.ts'
import { measuredCode, measureIn } from './measured-code.ts'
import { memo } from './memo.ts'
import { priorMemory, priorWork } from './prior.ts'
import { brainWork, RouteUnits } from './route-units.ts'
import { ruleEstimator } from './rules-estimator.ts'

const units = (usual: 'cpu' | 'time' = 'cpu') => new RouteUnits({ code: { render: 'abc' }, usual })
const header = { measure: 'header', work: 50, cpuMs: 20, wallMs: 99 } as const
const cpu = { measure: 'cpu', work: 20_000, cpuMs: 20, wallMs: 99 } as const

test('work without a header is in microseconds', () => {
  const { measure, code } = { measure: units('time').measureOf('render'), code: units().codeOf('render') }
  assert.deepEqual([measure, code], ['time', 'abc:cpu'])
  assert.equal(units().inMicroseconds('render', 123), 123)
})

test('work from a header is converted by the measured time of a unit', () => {
  const routes = units()
  routes.learn('w1', 'render', header)
  assert.deepEqual([routes.measureOf('render'), routes.codeOf('render')], ['header', 'abc:header'])
  assert.equal(Math.round(routes.of('w1', 'render')), 2500)
  assert.equal(Math.round(routes.inMicroseconds('render', 100)), 40_000)
  assert.equal(routes.inMicroseconds('other', 100), 100)
})

test('wall time is used where CPU time is unknown', () => {
  const routes = units('time')
  routes.learn('w1', 'render', { measure: 'header', work: 50, cpuMs: 0, wallMs: 100 })
  assert.equal(Math.round(routes.inMicroseconds('render', 1)), 2000)
  assert.equal(brainWork({ measure: 'header', work: 50, cpuMs: 0, wallMs: 100 }), 100_000)
  assert.equal(brainWork(header), 20_000)
  assert.equal(brainWork(cpu), 20_000)
  assert.equal(brainWork({ measure: 'meter', work: 7, cpuMs: 20, wallMs: 30 }), 7)
})

test('a route loses its header unit only after 20 responses without one', () => {
  const routes = units()
  routes.learn('w1', 'render', cpu)
  assert.equal(routes.measureOf('render'), 'cpu')
  routes.learn('w1', 'render', header)
  for (let i = 0; i < 19; i++) routes.learn('w1', 'render', cpu)
  assert.equal(routes.measureOf('render'), 'header')
  routes.learn('w1', 'render', cpu)
  assert.equal(routes.measureOf('render'), 'cpu')
  routes.learn('w1', 'render', header)
  assert.equal(routes.measureOf('render'), 'header')
})

test('a code hash includes how costs are measured', () => {
  for (const measure of ['meter', 'header', 'cpu', 'time'] as const) {
    assert.equal(measureIn(measuredCode('abc', measure)), measure)
  }
  assert.equal(measuredCode('abc', 'meter'), 'abc')
})

test('costs in different units are kept separate', () => {
  const estimator = ruleEstimator({
    work: () => chain(memo(), constant(), priorWork(1000)),
    memory: () => chain(memo(), constant(), priorMemory()),
  })
  const question = (codeHash: string) => ({
    workload: 'render',
    codeHash,
    key: '',
    params: null,
    features: {},
  })
  estimator.learn(question('abc:header'), { work: 5, peakMemoryMb: 1 })
  estimator.learn(question('abc:cpu'), { work: 80_000, peakMemoryMb: 1 })
  assert.equal(Math.round(estimator.estimate(question('def:header')).work), 5)
  assert.equal(Math.round(estimator.estimate(question('def:cpu')).work), 80_000)
  assert.equal(estimator.estimate(question('abc:time')).source, 'prior')
})
