import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../lib/errors.ts'
import { Batches, type Row } from './batches.ts'

interface Numbered extends Row {
  number: number
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await turn()
}

/** A lane whose statements the test ends. */
function stand(most = 1) {
  const statements: { numbers: number[]; end(): void; fail(error: Error): void }[] = []
  const batches = new Batches(
    { statements: most, rows: 1_000, bytes: 4 * 2 ** 20 },
    {
      explain: (error) => new StoreError(`explained: ${(error as Error).message}`),
      isWrongValue: (error) => (error as Error).message === 'bad',
    },
  )
  const lane = () =>
    batches.lane<Numbered, number>((_epoch, rows) => {
      const numbers = rows.map(({ number }) => number)
      const { promise, resolve, reject } = Promise.withResolvers<number[]>()
      statements.push({ numbers, end: () => resolve(numbers.map((n) => n * 10)), fail: reject })
      return promise
    })
  const write = lane()
  const row = (number: number, changes: Partial<Row> = {}): Numbered => ({
    ...{ epoch: 1, names: [`${number}`], bytes: 1, number },
    ...changes,
  })
  const seen = () => statements.map(({ numbers }) => numbers)
  return { batches, statements, lane, write, row, seen }
}

test('rows that arrive together, or while a statement runs, share a statement', async () => {
  const { statements, write, row, seen } = stand()
  const first = [write(row(1)), write(row(2))]
  await settle()
  const later = [write(row(3)), write(row(4))]
  await settle()
  assert.deepEqual(seen(), [[1, 2]])
  statements[0]!.end()
  assert.deepEqual(await Promise.all(first), [10, 20])
  await settle()
  assert.deepEqual(seen(), [
    [1, 2],
    [3, 4],
  ])
  statements[1]!.end()
  assert.deepEqual(await Promise.all(later), [30, 40])
})

test('rows with a name in common are written one after another', async () => {
  const { statements, write, row, seen } = stand(3)
  void write(row(1, { names: ['a', 'key'] }))
  void write(row(2, { names: ['b', 'key'] }))
  void write(row(3))
  await settle()
  assert.deepEqual(seen(), [[1, 3]])
  statements[0]!.end()
  await settle()
  assert.deepEqual(seen(), [[1, 3], [2]])
  statements[1]!.end()
})

test('epochs, kinds and limits of a statement are kept apart', async () => {
  const { statements, lane, write, row, seen } = stand(9)
  const other = lane()
  void write(row(1))
  void other(row(2))
  void write(row(3, { epoch: 2 }))
  void write(row(4, { bytes: 4 * 2 ** 20 }))
  void write(row(5))
  await settle()
  assert.deepEqual(seen(), [[1, 5], [2], [3], [4]])
  for (const { end } of statements) end()
})

test('one of many rows that is rejected does not fail the others', async () => {
  const { statements, write, row, seen } = stand()
  const rows = [1, 2, 3].map((number) => write(row(number)).catch(({ message }: Error) => message))
  await settle()
  const wrongValue = new Error('bad')
  statements[0]!.fail(wrongValue)
  await settle()
  statements[1]!.end()
  await settle()
  statements[2]!.fail(wrongValue)
  await settle()
  statements[3]!.end()
  assert.deepEqual(await Promise.all(rows), [10, 'explained: bad', 30])
  assert.deepEqual(seen(), [[1, 2, 3], [1], [2], [3]])
})

test('a failure of the server fails all rows of the statement, once', async () => {
  const { statements, batches, write, row } = stand()
  const rows = [1, 2].map((number) => write(row(number)).catch(({ message }: Error) => message))
  await settle()
  let isIdle = false
  void batches.idle().then(() => {
    isIdle = true
  })
  await settle()
  assert.equal(isIdle, false)
  statements[0]!.fail(new Error('gone'))
  assert.deepEqual(await Promise.all(rows), ['explained: gone', 'explained: gone'])
  await settle()
  assert.deepEqual([isIdle, statements.length], [true, 1])
})
