/** Shared stretches that an alignment finds. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { align, bases } from './asking.ts'
import { generateGenome, relativeOf } from './genome.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

/** Textbook Smith-Waterman: the highest score of the full table. */
function highestScore(a: string, b: string): number {
  let above: number[] = new Array(b.length + 1).fill(0)
  let highest = 0
  for (const base of a) {
    const row = [0]
    for (let i = 0; i < b.length; i++) {
      const along = above[i]! + (base === b[i] ? 2 : -3)
      row.push(Math.max(0, along, above[i + 1]! - 5, row[i]! - 5))
    }
    highest = Math.max(highest, ...row)
    above = row
  }
  return highest
}

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [row, base] of [...a].entries()) {
    const next = [row + 1]
    for (let i = 0; i < b.length; i++) {
      next.push(Math.min(above[i]! + (base === b[i] ? 0 : 1), above[i + 1]! + 1, next[i]! + 1))
    }
    above = next
  }
  return above[b.length]!
}

test('an alignment finds a match if and only if the full table has a sufficient score', async () => {
  const piece = bases('ACGT', 5, 18)
  let found = 0
  await fc.assert(
    fc.asyncProperty(
      piece,
      piece,
      piece,
      piece,
      piece,
      async (shared, alsoShared, before, between, after) => {
        const genome = before + shared + between.slice(0, 2) + alsoShared
        const other = shared + between.slice(2, 4) + alsoShared + after
        const { matches } = await align({ band: 2000, minLength: 12 }, `>1\n${genome}\n>2\n${other}`)
        const highest = highestScore(genome, other)
        assert.equal(matches.length > 0, highest >= 24)
        for (const { position, length, otherPosition, otherLength, differences } of matches) {
          const here = genome.slice(position, position + length)
          const there = other.slice(otherPosition, otherPosition + otherLength)
          assert.deepEqual([here.length, there.length], [length, otherLength])
          assert.equal(here[0], there[0])
          assert.equal(here.at(-1), there.at(-1))
          assert.ok(editDistance(here, there) <= differences)
          assert.ok(differences * 3 < length * 2)
          found++
        }
      },
    ),
    { numRuns: 300 },
  )
  assert.ok(found > 50)
})

test('a stretch with a substitution, a deletion and an insertion is found as one, with three differences', async () => {
  const letters = [...generateGenome(3, 900).bases].map((code) => 'ACGT'[Math.log2(code)]).join('')
  const shared = letters.slice(0, 300)
  const changed = shared[60] === 'A' ? 'C' : 'A'
  const copy = `${shared.slice(0, 60)}${changed}${shared.slice(61, 120)}${shared.slice(121, 200)}G${shared.slice(200)}`
  const genome = letters.slice(300, 400) + shared + letters.slice(400, 500)
  const other = letters.slice(500, 620) + copy + letters.slice(700, 800)
  const { total, matches } = await align({ band: 30 }, `>1\n${genome}\n>2\n${other}`)
  assert.equal(total, 1)
  const { position, length, otherPosition, differences } = matches[0]!
  assert.ok(Math.abs(position - 100) < 5 && Math.abs(otherPosition - 120) < 5)
  assert.ok(Math.abs(length - 300) < 8)
  assert.ok(differences >= 3 && differences <= 4)
  assert.equal((await align({ band: 10 }, `>1\n${genome}\n>2\n${other}`)).total, 0)
})

test('a genome matches itself completely, except for unknown bases', async () => {
  const one = 'ACGTTGCAAC'.repeat(9)
  const { matches } = await align({ band: 1 }, `>1\n${one}\n>2\n${one}`)
  const whole = { position: 0, length: 90, otherPosition: 0, otherLength: 90, differences: 0 }
  assert.deepEqual(matches, [whole])
  const unknown = 'N'.repeat(90)
  assert.equal((await align({ band: 1 }, `>1\n${unknown}\n>2\n${unknown}`)).total, 0)
})

test('a generated relative shares aligned stretches', async () => {
  const { bases } = generateGenome(1, 20_000)
  const relative = relativeOf(bases, 1, 5)
  assert.equal(relative.bases.length, bases.length)
  assert.deepEqual(relativeOf(bases, 1, 5).bases, relative.bases)
  const { total, matches } = await align({ length: 20_000, divergence: 5, band: 4, limit: 5 })
  assert.ok(total > 10 && matches.length === 5)
  assert.ok(matches.every(({ length, differences }) => length >= 40 && differences < length / 5))
})
