import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stream } from '../../lib/random.ts'
import { FairQueue } from './fair-queue.ts'

/** Serves the next entry, whose name begins with its client's and ends with its cost. */
function serve(queue: FairQueue<string>): string | undefined {
  const entry = queue.next()
  const [client, , cost] = entry?.split(' ') ?? []
  if (client !== undefined) queue.used(client, Number(cost))
  return entry
}

function add(queue: FairQueue<string>, entry: string): string | undefined {
  return queue.add(entry.split(' ')[0]!, entry)
}

function served(queue: FairQueue<string>): string[] {
  const order: string[] = []
  for (let entry = serve(queue); entry !== undefined; entry = serve(queue)) order.push(entry)
  return order
}

test('a client with many entries delays others by one of them', () => {
  const queue = new FairQueue<string>(100)
  for (const n of [1, 2, 3]) add(queue, `a ${n} 10`)
  assert.equal(serve(queue), 'a 1 10')
  add(queue, 'b 1 10')
  add(queue, 'b 2 10')
  assert.deepEqual(served(queue), ['b 1 10', 'a 2 10', 'b 2 10', 'a 3 10'])
})

test('a client with expensive entries waits until others have used as much', () => {
  const queue = new FairQueue<string>(100)
  for (const n of [1, 2]) add(queue, `a ${n} 5000`)
  for (let n = 1; n <= 50; n++) add(queue, `b ${n} 50`)
  const order = served(queue)
  assert.equal(order[0], 'a 1 5000')
  assert.equal(order.at(-1), 'a 2 5000')
})

test('a client that comes back with one entry at a time keeps what it has used while others wait', () => {
  const queue = new FairQueue<string>(100)
  for (let n = 1; n <= 20; n++) add(queue, `b ${n} 10`)
  add(queue, 'a 1 5000')
  assert.deepEqual([serve(queue), serve(queue)], ['b 1 10', 'a 1 5000'])
  add(queue, 'a 2 5000')
  assert.equal(served(queue).at(-1), 'a 2 5000')
})

test('a client that was absent has no credit', () => {
  const queue = new FairQueue<string>(100)
  for (let n = 1; n <= 10; n++) add(queue, `a ${n} 10`)
  for (let n = 1; n <= 5; n++) serve(queue)
  for (let n = 1; n <= 10; n++) add(queue, `b ${n} 10`)
  assert.equal(
    served(queue)
      .slice(0, 10)
      .filter((entry) => entry.startsWith('a')).length,
    5,
  )
})

test('in a full queue the client with the most places gives one up', () => {
  const queue = new FairQueue<string>(4)
  for (const n of [1, 2, 3, 4]) assert.equal(add(queue, `a ${n} 10`), undefined)
  assert.equal(add(queue, 'a 5 10'), 'a 5 10')
  assert.equal(add(queue, 'b 1 10'), 'a 4 10')
  assert.equal(add(queue, 'b 2 10'), 'a 3 10')
  assert.equal(add(queue, 'b 3 10'), 'b 3 10')
  assert.equal(queue.length, 4)
  assert.deepEqual(served(queue), ['a 1 10', 'b 1 10', 'a 2 10', 'b 2 10'])
})

test('whatever clients do, no entry is lost or served twice, and the length is right', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = stream(seed, 'fair queue')
    const queue = new FairQueue<string>(1 + random.below(20))
    const inside = new Set<string>()
    for (let n = 0; n < 200; n++) {
      if (random.next() < 0.6) {
        const entry = `${random.below(5)} ${n} ${random.below(100)}`
        inside.add(entry)
        inside.delete(add(queue, entry)!)
      } else {
        const entry = serve(queue)
        assert.equal(entry === undefined, inside.size === 0)
        assert.ok(entry === undefined || inside.delete(entry))
      }
      assert.equal(queue.length, inside.size)
    }
  }
})
