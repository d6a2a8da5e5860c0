/** Every parser of outside input survives its corpus and a fixed set of hostile inputs. `npm run -s fuzz` tries more. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { corpusOf } from './fuzz/corpus.ts'
import { type Failure, fuzz } from './fuzz/fuzz.ts'
import type { Target } from './fuzz/target.ts'
import { loadTarget, targetNames } from './fuzz/targets.ts'
import { watchTarget } from './fuzz/watch.ts'
import { share } from './support/thorough.ts'

const seed = 1

async function fuzzHere(target: Target, inputs: number) {
  const failures: Failure[] = []
  const opened = await target.open()
  try {
    const corpus = corpusOf(target.name).map(({ input }) => input)
    const tally = await fuzz(
      target,
      opened,
      corpus,
      { seed, from: 0, to: inputs, ms: Infinity },
      { before() {}, failed: (failure) => failures.push(failure) },
    )
    return { failures, tally }
  } finally {
    await opened.close?.()
  }
}

describe('parsers', { concurrency: 4 }, () => {
  for (const targetName of targetNames) {
    test(`${targetName}: every input of the corpus is read or rejected with a declared error`, async () => {
      const target = await loadTarget(targetName)
      const corpus = corpusOf(targetName)
      assert.ok(corpus.length > 0, `test/fuzz/corpus/${targetName} has no inputs`)
      const opened = await target.open()
      try {
        for (const { name, input } of corpus) {
          try {
            await opened.run(input)
          } catch (error) {
            if (target.declared(error) === undefined) throw new Error(name, { cause: error })
          }
        }
      } finally {
        await opened.close?.()
      }
    })

    test(`${targetName}: mutated and generated inputs are read or rejected with a declared error`, async () => {
      // Four targets share this process, so CPU time says nothing of one of them; `npm run -s fuzz` judges it.
      const target = { ...(await loadTarget(targetName)), cpuMs: Infinity }
      const { failures, tally } = await fuzzHere(target, share(1_500))
      assert.deepEqual(
        failures.map(({ number, message }) => `${number}: ${message}`),
        [],
      )
      assert.ok(Object.keys(tally.behaviours).length > 1, 'all inputs behave the same')
    })
  }
})

const planted = async (name: string, inputs = 300) =>
  watchTarget(await loadTarget(`planted-${name}`), { seed, inputs, guided: false })

test('an undeclared error is a crash, a declared one is not', async () => {
  const { failures, behaviours } = await planted('error')
  assert.ok(failures.length > 0)
  for (const { kind, message, input } of failures) {
    assert.equal(kind, 'crash')
    assert.match(message, /^TypeError: not declared/)
    assert.equal(input[0], 0xff)
  }
  assert.ok(behaviours.RangeError! > 0)
})

test('an endless loop is found, its input is kept, and the next inputs follow', async () => {
  const { failures, inputs } = await planted('loop', 30)
  assert.ok(failures.length > 0)
  for (const { kind, input } of failures) assert.deepEqual([kind, input[0]], ['hang', 0xff])
  assert.ok(inputs > failures[0]!.number + 1)
})

test('an input that ends the process is a crash', async () => {
  const { failures } = await planted('exit', 80)
  assert.ok(failures.length > 0)
  for (const { kind, message, input } of failures) {
    assert.deepEqual([kind, input[0]], ['crash', 0xff])
    assert.match(message, /ended with code 7/)
  }
})

test('coverage leads to code that chance does not reach', async () => {
  const maze = await loadTarget('planted-maze')
  const plan = { seed: 3, inputs: 25_000 }
  const blind = await watchTarget(maze, { ...plan, guided: false })
  assert.deepEqual(blind.failures, [])
  const guided = await watchTarget(maze, { ...plan, guided: true })
  assert.match(guided.failures[0]?.message ?? 'not found', /end of the maze/)
})

test('the same seed gives the same inputs', async () => {
  const target = await loadTarget('config')
  const one = await fuzzHere(target, 300)
  const other = await fuzzHere(target, 300)
  assert.deepEqual(one.tally.behaviours, other.tally.behaviours)
})

test('unknown targets are rejected by name', async () => {
  await assert.rejects(loadTarget('nonsense'), /^Error: nonsense: must be one of all, http-front,/)
})
