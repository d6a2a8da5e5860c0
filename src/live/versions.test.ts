import assert from 'node:assert/strict'
import test from 'node:test'
import { wireVersion } from '../wire/messages.ts'
import { Versions } from './versions.ts'

const one = { id: '1', files: ['/1/a.ts'], watched: ['/a.ts'] }
const two = { id: '2', files: ['/2/a.ts'], watched: ['/b.ts'] }
const [codeOne, codeTwo] = [{ a: 'one' }, { a: 'two' }]
const hello = (code: Record<string, string>, launch?: string) => ({ version: wireVersion, code, launch })

test('only the worker on trial starts with and may announce another version, until it is accepted', () => {
  const versions = new Versions(one, codeOne)
  assert.match(versions.refusal(hello(codeTwo), 'worker')!, /differs: .*plimsoll restart/)
  const trial = versions.tryOut('r1', two)
  assert.deepEqual(versions.startedBy('r1'), { version: two, mustStart: true })
  assert.deepEqual(versions.startedBy('5'), { version: one, mustStart: false })
  assert.equal(versions.refusal(hello(codeTwo, 'r1'), 'worker'), undefined)
  assert.deepEqual(trial.code(), codeTwo)
  assert.ok(versions.refusal(hello(codeTwo, '5'), 'worker'))
  trial.end()
  assert.ok(versions.refusal(hello(codeTwo, 'r1'), 'worker'), 'the trial is over')
})

test('during a change workers of both versions may join, and fronts of the last one also after it', () => {
  const versions = new Versions(one, codeOne)
  versions.begin(two, codeTwo)
  assert.equal(versions.startedBy('5').version, two)
  for (const code of [codeOne, codeTwo]) {
    assert.equal(versions.refusal(hello(code), 'worker'), undefined)
    assert.equal(versions.refusal(hello(code), 'front'), undefined)
  }
  assert.equal(versions.served, one)
  versions.serve(two)
  versions.finish()
  assert.ok(versions.refusal(hello(codeOne), 'worker'))
  assert.equal(versions.refusal(hello(codeOne), 'front'), undefined)
  assert.deepEqual([versions.isCurrent(codeOne), versions.isCurrent(codeTwo)], [false, true])
})

test('the files of a refused version are watched too, because the next edit may be there', () => {
  const versions = new Versions(one, codeOne)
  versions.read(two)
  assert.deepEqual(versions.watched(), ['/a.ts', '/b.ts'])
})
