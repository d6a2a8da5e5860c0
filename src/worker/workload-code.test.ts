import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { defaultMeter } from '../meter/hooks.ts'
import type { MeterSetting } from '../model/metering.ts'
import { read, usePool } from './slots/testing/use-pool.ts'
import { readCode } from './workload-code.ts'

/** A workload with a package to meter, and a workload without one. */
function project(t: TestContext, names: string[] = ['counted']) {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-code-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = join(dir, 'one.mjs')
  const meter = JSON.stringify({ packages: names })
  writeFileSync(file, `export default { name: 'one', description: '', meter: ${meter}, run() {} }\n`)
  const plain = join(dir, 'two.mjs')
  writeFileSync(plain, `export default { name: 'two', description: '', run() {} }\n`)
  const install = (version: string) => {
    mkdirSync(join(dir, 'node_modules', 'counted'), { recursive: true })
    writeFileSync(join(dir, 'node_modules', 'counted', 'package.json'), JSON.stringify({ version }))
  }
  install('1.0.0')
  return { file, plain, install }
}

test('the hash changes with everything that changes the counted work', async (t) => {
  const { file, install } = project(t)
  const hash = async (meter: MeterSetting) => (await readCode([file], meter)).hashes.one
  const { formula } = defaultMeter
  const settings: MeterSetting[] = [
    defaultMeter,
    { mode: 'regions', formula },
    { mode: 'routines', formula },
    { mode: 'work', formula: { instructions: 1 } },
    'off',
  ]
  const hashes = await Promise.all(settings.map(hash))
  assert.equal(new Set(hashes).size, settings.length)
  assert.deepEqual(await Promise.all(settings.map(hash)), hashes)
  const reordered = Object.fromEntries(Object.entries(formula).reverse())
  assert.equal(await hash({ mode: 'work', formula: { ...reordered, calls: 0 } }), hashes[0])
  install('1.0.1')
  assert.notEqual(await hash(defaultMeter), hashes[0])
  assert.equal(await hash('off'), hashes.at(-1))
})

test('a package that one workload names is metered for all', async (t) => {
  const { file, plain } = project(t)
  const alone = await readCode([plain], defaultMeter)
  const both = await readCode([plain, file], defaultMeter)
  assert.deepEqual([alone.metered.packages, both.metered.packages], [[], ['counted']])
  assert.notEqual(both.hashes.two, alone.hashes.two)
})

test('a missing package is an error that names it', async (t) => {
  const { file } = project(t, ['counted', 'nowhere'])
  await assert.rejects(readCode([file], defaultMeter), {
    code: 'CONFIG',
    message: /^workload one: meter\.packages names nowhere: no such package/,
  })
})

/** Two workloads that share a module; each also has its own. */
function sharing(t: TestContext) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-code-')))
  t.after(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'lib'))
  const write = (name: string, text: string) => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const turns = 'let s = 0; for (let i = 0; i < n; i++) s = (s + i * i) % 7; return s'
  const shared = write('lib/shared.mjs', `export function draw(n) { ${turns} }\n`)
  const solver = write(
    'lib/solver.mjs',
    `export function solve(n) { ${turns} }\nexport const again = (n) => solve(n)\n`,
  )
  const imports = "import { draw } from './lib/shared.mjs'\nimport { solve, again } from './lib/solver.mjs'\n"
  const run = 'run: ({ solves, draws }) => again(solves) + draw(draws)'
  const searches = write(
    'searches.mjs',
    `${imports}export default { name: 'searches', description: '', ${run} }\n`,
  )
  const draws = write(
    'draws.mjs',
    `import { draw } from './lib/shared.mjs'\nexport default { name: 'draws', description: '', run: ({ draws }) => draw(draws) }\n`,
  )
  return { dir, searches, draws, shared, solver }
}

const onlySolver = { ...defaultMeter, only: { searches: ['lib/solver'] } }

test('CN-14 a workload that lists modules counts those only; another one that shares the rest counts all of its own', async (t) => {
  const { searches, draws } = sharing(t)
  const works = async (files: string[], meter: MeterSetting) => {
    const { metered } = await readCode(files, meter)
    const { start } = await usePool(t, { files, meter, metered })
    const work = async (name: string, params: unknown) => {
      const run = start(name, params)
      assert.equal((await read(run)).kind, 'result')
      return (await run.ended).work!
    }
    const ofSearches = (solves: number, draws: number) => work('searches', { solves, draws })
    return { ofSearches, ofDraws: (draws: number) => work('draws', { draws }) }
  }
  for (const meter of [onlySolver, { ...onlySolver, mode: 'regions' as const }]) {
    const both = await works([searches, draws], meter)
    const plain = await works([searches, draws], { ...meter, only: {} })
    const solved = await both.ofSearches(50_000, 0)
    assert.ok(solved > 50_000)
    assert.equal(await both.ofSearches(50_000, 80_000), solved)
    assert.ok((await plain.ofSearches(50_000, 80_000)) > 2 * solved)
    assert.equal(await both.ofDraws(80_000), await plain.ofDraws(80_000))
  }
})

test('files that no workload counts get no counters, and the hash tells which code is listed', async (t) => {
  const { searches, draws, shared, solver } = sharing(t)
  const alone = await readCode([searches], onlySolver)
  assert.deepEqual(new Set(alone.metered.except), new Set([searches, shared]))
  assert.deepEqual(alone.metered.listed, [{ code: solver, group: 1 }])
  assert.deepEqual(alone.metered.groups, { searches: [1] })
  assert.deepEqual((await readCode([searches, draws], onlySolver)).metered.except, [searches])
  const named = { ...defaultMeter, only: { searches: ['lib/solver.mjs#solve'] } }
  const byName = await readCode([searches], named)
  assert.deepEqual(byName.metered.listed, [{ code: solver, group: 1, functions: ['solve'] }])
  const hashes = [alone, byName, await readCode([searches], defaultMeter)].map(
    ({ hashes }) => hashes.searches,
  )
  assert.equal(new Set(hashes).size, 3)
})

test('listed code that does not exist is an error that names it', async (t) => {
  const { searches } = sharing(t)
  const wrong: [string, RegExp][] = [
    ['lib/solvr', /^workload searches: meter\.only names lib\/solvr: searches\.mjs imports no such module/],
    ['lib/solver#sove', /lib\/solver#sove: lib\/solver has no function sove$/],
    ['lib/solver#', /must be MODULE or MODULE#FUNCTION$/],
  ]
  for (const [entry, message] of wrong) {
    const meter = { ...defaultMeter, only: { searches: [entry] } }
    await assert.rejects(readCode([searches], meter), { code: 'CONFIG', message })
  }
})
