import assert from 'node:assert/strict'
import { test } from 'node:test'
import { question } from '../../estimate/testing/question.ts'
import { similarRequests } from './similar-requests.ts'

interface Search {
  map?: number
  x0?: number
  x1?: number
  y0?: number
  y1?: number
  xS?: number
  strategy?: string
}

/** On a map of 1,000 × 1,000. */
function search({ strategy = 'BFS', map = 1, ...where }: Search): ReturnType<typeof question> {
  const { x0 = 0, x1 = 999, y0 = 0, y1 = 999 } = where
  const cells = (x1 - x0 + 1) * (y1 - y0 + 1)
  return question(
    {
      strategy,
      output: 'json',
      isUpload: false,
      cells,
      mapCells: 1_000_000,
      distance: 9,
      reach: 1,
      grade: 1,
    },
    { workload: 'hillclimb', params: { map, width: 1000, height: 1000, strategy, ...where } },
  )
}

/** The estimate of a whole map after these. */
function after(rows: [Search, number][], asked: Search = {}) {
  const rule = similarRequests({ unknown: 200_000_000 })
  for (const [row, work] of rows) rule.learn(search(row), work)
  const { value, source, reason } = rule.guess(search(asked))!
  return [Math.round(value), source, reason.group, reason.strategy, reason.rows]
}

test('HC-4 without any measurement the guess is 200,000,000, or none if no default is given', () => {
  assert.deepEqual(after([]), [200_000_000, 'prior', undefined, undefined, undefined])
  assert.equal(similarRequests().guess(search({})), undefined)
})

test('HC-4 the same request takes precedence', () => {
  assert.deepEqual(
    after([
      [{}, 7],
      [{ xS: 501 }, 900],
    ]),
    [7, 'memo', undefined, undefined, undefined],
  )
})

test("HC-4 next are requests on the same map within a quarter of the area's side", () => {
  assert.deepEqual(
    after([
      [{ xS: 749 }, 100],
      [{ xS: 248 }, 9000],
      [{ map: 2 }, 9000],
    ]),
    [100, 'similar', 'same-map', 'same', 1],
  )
  // The side is that of the new request.
  const small = { x0: 400, x1: 499, y0: 400, y1: 499 }
  assert.deepEqual(
    after(
      [
        [{ ...small, x1: 524 }, 100],
        [{ ...small, x0: 374 }, 9000],
      ],
      small,
    ),
    [80, 'similar', 'same-map', 'same', 1],
  )
})

test('HC-4 next are requests of similar size on any map', () => {
  assert.deepEqual(
    after([
      [{ map: 2, x1: 799, y1: 799 }, 640],
      [{ map: 3, x1: 699, y1: 699 }, 9000],
    ]),
    [1000, 'similar', 'similar-size', 'same', 1],
  )
})

test('HC-4 in these two groups the same strategy is preferred', () => {
  const [bfs, dfs] = [{ xS: 510 }, { xS: 510, strategy: 'DFS' }]
  assert.deepEqual(
    after([
      [bfs, 100],
      [dfs, 900],
    ]),
    [100, 'similar', 'same-map', 'same', 1],
  )
  assert.deepEqual(after([[dfs, 900]]), [900, 'similar', 'same-map', 'any', 1])
  const other = { map: 2, strategy: 'DFS' }
  assert.deepEqual(after([[other, 900]]), [900, 'similar', 'similar-size', 'any', 1])
})

test('HC-4 next are those of the same strategy, then all', () => {
  const small = { map: 2, x1: 99, y1: 99 }
  assert.deepEqual(
    after([
      [small, 10],
      [{ ...small, strategy: 'DFS' }, 90],
    ]),
    [1000, 'similar', 'same-strategy', 'same', 1],
  )
  assert.deepEqual(after([[{ ...small, strategy: 'DFS' }, 90]]), [9000, 'similar', 'all', 'any', 1])
})

test('HC-4 mean work times the square of side by mean side, not by mean area', () => {
  assert.deepEqual(
    after([
      [{ map: 2, x1: 99, y1: 99 }, 100],
      [{ map: 2, x1: 299, y1: 299 }, 300],
    ]),
    [5000, 'similar', 'same-strategy', 'same', 2],
  )
})

test('HC-1 an uploaded map is identified by its hash, and others of its size are only similar', () => {
  const upload = (map: string, xS: number) => {
    const features = { strategy: 'BFS', isUpload: true, cells: 10_000, mapCells: 10_000 }
    const params = { strategy: 'BFS', xS }
    return question(features, {
      workload: 'hillclimb',
      params,
      key: `${JSON.stringify(params)} 5000 ${map}`,
    })
  }
  const rule = similarRequests()
  rule.learn(upload('hash-a', 50), 70)
  rule.learn(upload('hash-b', 50), 900)
  const same = rule.guess(upload('hash-a', 55))!
  assert.deepEqual([same.value, same.reason.group, same.reason.rows], [70, 'same-map', 1])
  const other = rule.guess(upload('hash-c', 50))!
  assert.deepEqual([other.value, other.reason.group, other.reason.rows], [485, 'similar-size', 2])
})

test('other workloads are compared by their categories, numbers and size', () => {
  const ask = (algorithm: string, colour: string, width: number, height: number) =>
    question({ algorithm, colour, width, height })
  const rule = similarRequests()
  rule.learn(ask('quick', 'red', 100, 50), 1000)
  rule.learn(ask('slow', 'red', 100, 50), 50_000)
  rule.learn(ask('quick', 'blue', 200, 200), 9000)
  const near = rule.guess(ask('quick', 'red', 110, 50))!
  assert.ok(Math.abs(near.value - 1100) < 1e-6)
  assert.deepEqual([near.reason.group, near.reason.strategy], ['same-map', 'same'])
  assert.equal(rule.guess(ask('quick', 'green', 100, 51))?.reason.group, 'similar-size')
  assert.equal(rule.guess(ask('quick', 'green', 1, 1))?.reason.group, 'same-strategy')
  assert.equal(rule.guess(ask('other', 'green', 1, 1))?.reason.group, 'all')
})

test('a feature that only one of two requests has makes them differ', () => {
  const rule = similarRequests()
  rule.learn(question({ n: 10 }), 100)
  assert.equal(rule.guess(question({ n: 10, depth: 0 }))?.reason.group, 'similar-size')
})

test('the spread is that of the group around its guess', () => {
  const rule = similarRequests()
  rule.learn(search({ xS: 500 }), 90)
  assert.equal(rule.guess(search({}))?.spread, undefined)
  rule.learn(search({ xS: 501 }), 90)
  assert.ok(rule.guess(search({}))!.spread!.above < 1e-6)
  rule.learn(search({ xS: 502 }), 9000)
  assert.ok(rule.guess(search({}))!.spread!.above > 2)
})

test('only the newest rows are compared', () => {
  const rule = similarRequests({ rows: 10 })
  for (let xS = 400; xS < 420; xS++) rule.learn(search({ xS }), xS < 410 ? 1e9 : 100)
  const { value, reason } = rule.guess(search({}))!
  assert.deepEqual([value, reason.rows], [100, 10])
})
