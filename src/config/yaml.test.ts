import assert from 'node:assert/strict'
import test from 'node:test'
import { readYaml } from './yaml.ts'

test('YAML is read like the JSON of the same shape', () => {
  const text = 'a: [1, {b: true}]\n5: x\n__proto__: {c: null}\nd: &d [1]\ne: *d\n'
  const json = '{"a":[1,{"b":true}],"5":"x","__proto__":{"c":null},"d":[1],"e":[1]}'
  assert.deepEqual(readYaml(text), JSON.parse(json))
  assert.equal(readYaml('text'), 'text')
})

test('keys that are not text are rejected', () => {
  for (const text of ['{{a: b}: c}', '? [a]\n: b', ': a']) {
    assert.throws(() => readYaml(text), { code: 'CONFIG', message: /^a key is .*: must be text$/ }, text)
  }
})

test('deeply nested keys are rejected before they fill the memory', () => {
  const deep = 500
  assert.throws(() => readYaml(`${'{'.repeat(deep)}${'}'.repeat(deep)}`))
})
