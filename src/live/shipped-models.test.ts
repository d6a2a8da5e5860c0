import assert from 'node:assert/strict'
import { copyFileSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { defaultMeter } from '../meter/hooks.ts'
import { findModels, modelFile } from './shipped-models.ts'

const folder = join(import.meta.dirname, '..', '..', 'workloads')
const ready = globSync('*.ts', { cwd: folder })
  .filter((file) => !file.includes('.test.'))
  .map((file) => join(folder, file))

test('every ready workload comes with a model of its current code', async () => {
  const found = await findModels(ready, defaultMeter, assert.fail)
  assert.deepEqual([...found.keys()].sort(), ready.map((file) => basename(file, '.ts')).sort())
  const outdated = [...found.values()].filter(({ isCurrent }) => !isCurrent).map(({ workload }) => workload)
  assert.deepEqual(outdated, [], 'run `npm run -s models` for these')
})

test('models of another formula are not used', async () => {
  const found = await findModels(ready.slice(0, 1), { ...defaultMeter, mode: 'routines' }, assert.fail)
  assert.equal(found.size, 0)
})

test('a model of changed code is found but not current, and an invalid file is logged', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'plimsoll-models-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const source = `export default { name: 'factorize', description: 'Returns 1.', run: () => 1 }`
  const file = join(dir, 'factorize.js')
  writeFileSync(file, source)
  copyFileSync(modelFile(join(folder, 'factorize.ts')), modelFile(file))
  const found = await findModels([file], defaultMeter, assert.fail)
  assert.equal(found.get('factorize')!.isCurrent, false)
  writeFileSync(modelFile(file), '{"version": 1}')
  const logged: string[] = []
  assert.equal((await findModels([file], defaultMeter, (line) => logged.push(line))).size, 0)
  assert.match(logged.join(), /factorize\.model\.json is ignored/)
})
