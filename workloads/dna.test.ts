/** Results and pages of dna, and rejected input. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Refusal } from 'plimsoll/workload'
import { type Answer, ask, bases, contextOf, search } from './dna/asking.ts'
import { generateGenome } from './dna/genome.ts'
import type { Match } from './dna/search.ts'
import dna from './dna.ts'
import { problems, readParams } from './testing/params.ts'

// A fixed seed: every run checks the same cases.
fc.configureGlobal({ seed: 1 })

async function page(params: Record<string, unknown>, body = ''): Promise<string> {
  const reply = (await ask({ ...params, output: 'html' }, contextOf(body))) as Record<string, string>
  assert.equal(reply.contentType, 'text/html; charset=utf-8')
  return reply.body!
}

const complement: Record<string, string> = { A: 'T', C: 'G', G: 'C', T: 'A', N: 'N' }

function bruteForce(genome: string, pattern: string, mismatches: number, both: boolean): Match[] {
  const reverse = [...pattern].reverse().map((letter) => complement[letter])
  const found: Match[] = []
  for (let position = 0; position + pattern.length <= genome.length; position++) {
    for (const [strand, wanted] of [
      ['+', [...pattern]],
      ['-', reverse],
    ] as const) {
      if (strand === '-' && !both) continue
      const differences = wanted.filter(
        (letter, i) => letter !== 'N' && letter !== genome[position + i],
      ).length
      if (differences <= mismatches) found.push({ position, strand, differences })
    }
  }
  return found
}

test('a search agrees with a comparison letter by letter', async () => {
  await fc.assert(
    fc.asyncProperty(
      bases('ACGTN', 1, 120),
      bases('ACGTN', 1, 30).filter((pattern) => /[ACGT]/.test(pattern)),
      fc.nat({ max: 29 }),
      fc.boolean(),
      async (genome, pattern, wanted, both) => {
        const mismatches = Math.min(wanted, pattern.replaceAll('N', '').length - 1)
        const strands = both ? 'both' : 'forward'
        const { total, matches } = await search({ pattern, mismatches, strands, limit: 1000 }, genome)
        const expected = bruteForce(genome, pattern, mismatches, both)
        assert.equal(total, expected.length)
        assert.deepEqual(matches, expected)
      },
    ),
    { numRuns: 300 },
  )
})

test('all matches are counted and the first ones listed', async () => {
  const all = await search({ limit: 1000 })
  assert.ok(all.total > 20 && all.total === all.matches.length)
  const few = await search({ limit: 3 })
  assert.equal(few.total, all.total)
  assert.deepEqual(few.matches, all.matches.slice(0, 3))
  assert.deepEqual((await search({ limit: 0 })).matches, [])
})

test('a generated genome depends only on the seed, has the requested length and all bases', () => {
  const { bases } = generateGenome(5, 100_003)
  assert.equal(bases.length, 100_003)
  assert.deepEqual(generateGenome(5, 100_003).bases, bases)
  assert.deepEqual(generateGenome(5, 50).bases, bases.subarray(0, 50))
  assert.notDeepEqual(generateGenome(6, 50).bases, bases.subarray(0, 50))
  for (const code of [1, 2, 4, 8]) {
    const share = bases.filter((base) => base === code).length / bases.length
    assert.ok(Math.abs(share - 0.25) < 0.01)
  }
})

test('FASTA and bare letters are accepted in either case, with any line endings', async () => {
  const plain = await search({ pattern: 'CGU'.replace('U', 'T'), mismatches: 0 }, 'ACGTACGTNN')
  for (const text of [
    'acgtACGTnn\n',
    'ACGU\r\nACGURY',
    ' AC GT\n\n\tACGT\nNN\n\n',
    ';remark\nACGT\n;another\nACGTNN',
  ]) {
    assert.deepEqual(await search({ pattern: 'cgt', mismatches: 0 }, text), plain)
  }
  const named = await search({ pattern: 'CGT', mismatches: 0 }, '\n>chr 1 é\nACGTA\nCGTNN')
  assert.deepEqual(named, { ...plain, genome: { name: 'chr 1 é', bases: 10 } })
})

test('a pattern longer than the genome matches nowhere', async () => {
  const ctx = contextOf('ACG')
  assert.equal(((await ask({ pattern: 'ACGT' }, ctx)) as Answer<Match>).total, 0)
  assert.equal(ctx.fractions.at(-1), 1)
})

test('the page shows each match in context, with differences marked', async () => {
  const html = await page(
    { pattern: 'GATTACA', strands: 'forward' },
    `${'C'.repeat(20)}GATTTCA${'C'.repeat(20)}`,
  )
  assert.ok(html.includes(`${'C'.repeat(12)}<mark>GATT<b>T</b>CA</mark>${'C'.repeat(12)}`))
  assert.match(html, /47 bases; 1 match, 1 shown\./)
  const shared = await page({ mode: 'align', length: 5000 })
  assert.match(shared, /<mark>[ACGT]+…<\/mark>/)
})

test('a name in the upload is escaped in the page', async () => {
  const html = await page({ pattern: 'ACGT' }, `><script>alert("1 & 2")</script>\nACGTACGT`)
  assert.ok(!html.includes('<script'))
  assert.ok(html.includes('&#60;script&#62;alert(&#34;1 &#38; 2&#34;)'))
})

test('the size of a page is bounded, however many matches there are', async () => {
  const html = await page({ pattern: `A${'N'.repeat(998)}C`, length: 5000, limit: 1000 })
  assert.ok(html.length < 1_500_000)
  assert.equal(html.match(/<tr><td>/g)?.length, 1000)
})

async function refusal(body: string | Uint8Array, params: Record<string, unknown> = {}): Promise<string> {
  const error = await ask(params, contextOf(body, 1 << 20)).then(
    () => assert.fail('was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Refusal, String(error))
  return `${error.status} ${error.message}`
}

test('a body that is not a genome is rejected with the cause', async () => {
  const allowed = 'is not a base; allowed are A, C, G, T, U, N and the other letters of IUPAC'
  assert.equal(await refusal('ACGT\nAC!T'), `422 line 2 of the body: "!" ${allowed}`)
  assert.equal(await refusal('>x\nAC>GT'), `422 line 2 of the body: ">" ${allowed}`)
  assert.equal(await refusal(Buffer.from([65, 0, 65])), `415 line 1 of the body: byte 0x00 ${allowed}`)
  assert.equal(await refusal(Buffer.from([0xff, 0xd8])), `415 line 1 of the body: byte 0xff ${allowed}`)
  assert.match(await refusal(Buffer.from([0x1f, 0x8b, 8, 0])), /^415 the body is compressed \(gzip\)/)
  assert.equal(await refusal(' \n\n'), '422 the body holds no bases')
  assert.equal(await refusal('>empty'), '422 empty: has no bases')
  assert.equal(await refusal('>a\n>b\nACGT'), '422 a: has no bases')
  assert.match(
    await refusal('>a\nAC\n>b\nAC'),
    /^422 the body holds 2 genomes; it must hold one, or two with/,
  )
  assert.match(await refusal('>a\nA\n>b\nA\n>c\nA', { mode: 'align' }), /^422 .* it must hold one or two$/)
})

test('a body that is too large is rejected', async () => {
  assert.equal(
    await refusal(Buffer.alloc(10_000_001, 'A')),
    '413 uploaded: has 10000001 bases; at most 10000000 are allowed',
  )
  assert.match(
    await refusal(Buffer.alloc(12_000_001, '\n')),
    /^413 the body is longer than the 12000000 bytes/,
  )
  const said = await refusal(Buffer.alloc(600_000, 'A'), { mode: 'align', band: 2000 })
  assert.equal(said, '413 bases × (2 × band + 1) is 2400600000; it must be at most 2000000000')
})

test('progress grows to 1', async () => {
  for (const params of [{}, { mode: 'align', length: 20_000 }, { length: 1_000_000, mismatches: 4 }]) {
    const ctx = contextOf()
    await ask(params, ctx)
    assert.deepEqual(
      ctx.fractions,
      ctx.fractions.toSorted((a, b) => a - b),
    )
    assert.equal(ctx.fractions.at(-1), 1)
  }
})

test('features reflect the cost; for an upload, its size', () => {
  const head = new Uint8Array()
  const features = (params: Record<string, unknown>, bytes = 0) =>
    dna.features?.(readParams(dna, params), { bytes, head })
  assert.deepEqual(features({ mode: 'align', length: 1000, band: 10 }), {
    mode: 'align',
    bases: 1000,
    steps: 27_000,
    output: 'json',
  })
  assert.deepEqual(features({ pattern: 'ACGT', strands: 'forward', mismatches: 2 }, 500), {
    mode: 'search',
    bases: 500,
    steps: 3500,
    output: 'json',
  })
})

test('invalid parameters and combinations are rejected with the allowed values', () => {
  for (const pattern of ['', 'ACGX', 'NNN', 'A C', 'A'.repeat(1001), 7, null, ['A']]) {
    assert.match(problems(dna, { pattern }), /^pattern: must be 1 to 1000 of the letters A, C, G, T and N/)
  }
  assert.deepEqual(readParams(dna, { pattern: 'gattaca' }).pattern, 'GATTACA')
  assert.match(problems(dna, { pattern: 'ANNC', mismatches: 2 }), /^mismatches: must be below the number/)
  assert.equal(problems(dna, { pattern: 'ANNC', mismatches: 1 }), '')
  assert.match(
    problems(dna, { mode: 'align', length: 10_000_000, band: 100 }),
    /^length: length × \(2 × band \+ 1\) must be at most 2000000000/,
  )
  assert.match(problems(dna, { length: 10_000_001 }), /a whole number from 1 to 10000000/)
  assert.match(problems(dna, { divergence: 'NaN' }), /a number from 0 to 50/)
  assert.match(problems(dna, { limit: 1001 }), /a whole number from 0 to 1000/)
  assert.match(problems(dna, { genome: 'x' }), /unknown: genome; allowed: mode, length/)
})
