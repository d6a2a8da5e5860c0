/** Regions are counted exactly, work is proportional to the number of turns, and equal inputs give equal work. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { metered } from './testing/both-ways.ts'

/** The work of `spin(n)`, which `body` declares. */
async function workFor(body: string, n: number, mode: 'work' | 'regions' | 'routines' = 'work') {
  const { work } = await metered(
    `${body}\nconst given = { n: ${n}, spin }\nfunction main() { return given.spin(given.n) }`,
    mode,
  )
  return work
}

const loops: Record<string, string> = {
  for: 'function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s }',
  'for, in steps': 'function spin(n) { let s = 0; for (let i = 0; i < 12 * n; i += 12) s += i; return s }',
  'for, down': 'function spin(n) { let s = 0; for (let i = n; i > 0; i--) s += i; return s }',
  while: 'function spin(n) { let i = 0; while (i < n) { i++ } return i }',
  'while, not counted by a variable': 'function spin(n) { let x = n; while (x) { x -= 1 } return x }',
  do: 'function spin(n) { let i = 0; do { i += 1 } while (i < n); return i }',
  'for of':
    'function spin(n) { const list = Array.from({ length: n }); let s = 0; for (const it of list) s++; return s }',
  nested:
    'function spin(n) { let s = 0; for (let i = 0; i < n; i++) for (let j = 0; j < 7; j++) s += j; return s }',
  'with calls':
    'const o = { f: (x) => x + 1 }; function spin(n) { let s = 0; for (let i = 0; i < n; i++) s = o.f(s); return s }',
  'with calls by name':
    'function f(x) { return x * 2 } function spin(n) { let s = 0; for (let i = 0; i < n; i++) s = f(s) % 9; return s }',
  'with exceptions that are caught inside':
    'function spin(n) { let s = 0; for (let i = 0; i < n; i++) { try { throw i } catch (e) { s += e } } return s }',
  'with continue':
    'function spin(n) { let s = 0; a: for (let i = 0; i < n; i++) { for (;;) { s++; continue a } } return s }',
  'with closures':
    'function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += [1].map((x) => x + i)[0]; return s }',
  'with a method that all objects have':
    'function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i.toString(36).length; return 0 * s }',
  generator:
    'function* some(n) { for (let i = 0; i < n; i++) yield i } function spin(n) { let s = 0; for (const it of some(n)) s++; return s }',
  'async function':
    'async function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += await i; return s }',
}

for (const [what, body] of Object.entries(loops)) {
  test(`each turn of a loop counts the same work: ${what}`, async () => {
    // The larger ones exceed the point where counts are added to the total.
    const turns = [1000, 2000, 3000, 40_000, 41_000]
    const works: number[] = []
    for (const n of turns) works.push(await workFor(body, n))
    const [a, b, c, d, e] = works as [number, number, number, number, number]
    const perTurn = (b - a) / 1000
    assert.ok(perTurn >= 1, `${perTurn} for each turn`)
    // Strings are charged by length.
    const tolerance = what.includes('method') ? 0.05 * (b - a) : 1e-6 * e
    assert.ok(Math.abs(c - b - (b - a)) <= tolerance, works.join(', '))
    assert.ok(Math.abs(e - d - (b - a)) <= tolerance + (what.includes('method') ? 1500 : 0), works.join(', '))
  })
}

test('regions are counted exactly', async () => {
  const { regions } = await metered(
    `function main() {
      let s = 0
      for (let i = 0; i < 10; i++) {
        if (i % 2) s += i * i
        else if (i === 4) continue
        else { s -= i }
        s += i > 6 ? 1 : 2
      }
      for (const it of 'abc') { if (it === 'b') break }
      switch (s) { case 1: s = 2; default: s = 3; case 4: s = 5; break; case 6: s = 7 }
      try { null.x } catch { s++ } finally { s-- }
      return s && [1, 2, 3].map((x) => x)
    }`,
    'regions',
  )
  assert.deepEqual(
    regions.map(({ times }) => times),
    // main; first loop: turns, odd, even, 4, other even ones, what follows, > 6, else; second loop and its break;
    // cases 1, default, 4, 6; catch; the right of &&; map
    [1, 10, 5, 5, 1, 4, 9, 3, 6, 2, 1, 0, 1, 1, 0, 1, 1, 3],
  )
})

test('stores, allocations and calls are tallied as often as they ran', async () => {
  const { regions } = await metered(
    `const o = { f() {} }
    function main() { const list = []; for (let i = 0; i < 100; i++) { list[i] = { i }; o.f() } return list }`,
    'regions',
  )
  const sum = (metric: 'stores' | 'allocations' | 'calls') =>
    regions.reduce((total, { times, tally }) => total + times * (tally[metric] ?? 0), 0)
  assert.deepEqual([sum('stores'), sum('allocations'), sum('calls')], [200, 101, 100])
})

test('each recursive call is counted', async () => {
  const fib = 'function spin(n) { return n < 2 ? n : spin(n - 1) + spin(n - 2) }'
  for (const mode of ['work', 'regions', 'routines'] as const) {
    const works: number[] = []
    for (const n of [8, 9, 10, 11]) works.push(await workFor(fib, n, mode))
    const [a, b, c, d] = works as [number, number, number, number]
    const outside = await workFor('function spin() {}', 0, mode)
    const own = c - b - a + outside
    assert.ok(own > 0)
    assert.ok(Math.abs(d - c - b + outside - own) < 1e-6, works.join(', '))
  }
})

test('mode routines counts calls, whatever the functions do', async () => {
  const body = 'const o = { f(n) { let s = 0; for (let i = 0; i < n; i++) s += i; return s } }'
  const calls = (n: number) => `${body}; function spin(n) { o.f(${n}); o.f(n); return 0 }`
  assert.equal(await workFor(calls(5), 9, 'routines'), await workFor(calls(500), 900, 'routines'))
})

test('equal inputs give equal work, even if exceptions thrown by calls end loops', async () => {
  const body = `const o = { f(i, n) { if (i === n) throw i; let s = 0; for (let k = 0; k < 50; k++) s += Math.sqrt(k); return s } }
    function run(n) { let s = 0; for (let i = 0; ; i++) s += o.f(i, n) }
    function spin(n) { let c = 0; for (let k = 1; k < 5; k++) { try { run(k * n) } catch (e) { c += e } } return c }`
  const works = new Set<number>()
  for (let i = 0; i < 4; i++) works.add(await workFor(body, 2000))
  assert.equal(works.size, 1)
})

test('built-in functions are charged by the size of their input or output', async () => {
  const bodies = [
    'function spin(n) { return new Array(n).fill(1).length }',
    'function spin(n) { return new Uint8Array(n).slice(1).length }',
    "function spin(n) { return 'x'.repeat(n).split('').reverse().join('').length }",
    'function spin(n) { return JSON.stringify(Array.from({ length: n }, String)).length }',
  ]
  for (const body of bodies) {
    const [small, large] = [await workFor(body, 1000), await workFor(body, 100_000)]
    assert.ok(large > 30 * (small - 300), `${small}, ${large}: ${body}`)
  }
})

test('built-in functions that process a part are not charged for the whole', async () => {
  const bodies = [
    'function spin(n) { const a = new Uint8Array(1e6); for (let i = 0; i < 1000; i++) a.fill(1, i, i + 2); return a[n] }',
    "function spin(n) { const t = 'x'.repeat(1e6); let s = n; for (let i = 0; i < 1000; i++) s += t.indexOf('x', i); return s }",
  ]
  for (const body of bodies) assert.ok((await workFor(body, 1)) < 5e6, body)
})
