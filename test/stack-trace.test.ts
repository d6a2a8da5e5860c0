import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { until, usePool } from '../src/worker/slots/testing/use-pool.ts'

const file = join(import.meta.dirname, 'fixtures/throws.ts')

/** The position of a text in the author's file, as a stack shows it. Columns are those of the metered code. */
function placeOf(piece: string): string {
  const before = readFileSync(file, 'utf8').split(piece)
  assert.equal(before.length, 2, `${piece} must occur once`)
  return `throws.ts:${before[0]!.split('\n').length}:`
}

const places = [placeOf('new RangeError'), placeOf('fail<Step>(step'), placeOf('add(1, 2, 3)')]

for (const how of ['logged', 'thrown']) {
  test(`an error of a metered workload that is ${how} names the author's lines`, async (t) => {
    const { start, lines } = await usePool(t, { files: [file] })
    const run = start('throws', { how })
    const stack = () => lines.filter((line) => line.includes('throws.ts:'))
    await until(() => stack().length >= places.length, 'the stack is printed')
    stack().forEach((line, index) => {
      assert.ok(line.includes(places[index]!), `${line}: should be ${places[index]}`)
    })
    run.cancel()
    await run.ended
  })
}
