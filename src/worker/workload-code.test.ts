import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { defaultMeter } from '../meter/hooks.ts'
import type { MeterSetting } from '../model/metering.ts'
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
  assert.deepEqual([alone.packages, both.packages], [[], ['counted']])
  assert.notEqual(both.hashes.two, alone.hashes.two)
})

test('a missing package is an error that names it', async (t) => {
  const { file } = project(t, ['counted', 'nowhere'])
  await assert.rejects(readCode([file], defaultMeter), {
    code: 'CONFIG',
    message: /^workload one: meter\.packages names nowhere: no such package/,
  })
})
