/** CNV's meter: steps in place of counters, and two quantities. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { amountOf, checkMeter, type MeterSetting, meterFlags, quantitiesIn } from '../../model/metering.ts'
import { workOf } from '../../model/metrics.ts'
import { read, usePool } from '../../worker/slots/testing/use-pool.ts'
import { readCode } from '../../worker/workload-code.ts'
import { presetOf } from '../presets.ts'

const meter = presetOf('cnv').meter as Exclude<MeterSetting, 'off'>
const workload = (name: string) => join(import.meta.dirname, '..', '..', '..', 'workloads', `${name}.ts`)

async function poolOf(t: TestContext, ...names: string[]) {
  const files = names.map(workload)
  const { metered } = await readCode(files, meter)
  const { start } = await usePool(t, { files, meter, metered })
  const ask = async (name: string, params: Record<string, unknown>) => {
    const run = start(name, params)
    const answer = await run.answer
    assert.equal(answer.kind, 'result')
    if (answer.kind !== 'result') throw new Error('not a result')
    const text = Buffer.concat(await answer.body.toArray()).toString('latin1')
    const { work, tally } = await run.ended
    const [instCount, totalAccesses] = quantitiesIn(meter).map((each) => amountOf(each, tally!))
    return { answer, text, work, tally, instCount: instCount!, totalAccesses: totalAccesses! }
  }
  return { ask, except: metered.except! }
}

test('CN-2 Gray-Scott counts by formula: actual iterations × size² cells, 274 instructions and 62 accesses each', async (t) => {
  const { ask, except } = await poolOf(t, 'grayscott', 'julia')
  // Without feed the reaction stops long before the last iteration.
  const settles = { size: 32, iterations: 20_000, feed: 0, kill: 0.1 }
  const { answer, work, instCount, totalAccesses } = await ask('grayscott', settles)
  const iterations = Number(answer.headers['grayscott-iterations'])
  assert.ok(iterations > 0 && iterations < 20_000)
  const cells = iterations * 32 * 32
  assert.deepEqual([instCount, totalAccesses, work], [cells * 274, cells * 62, cells * 336])
  // Nor are files that it shares with workloads of which only listed modules count.
  const has = (file: string) => except.some((path) => path.endsWith(file))
  assert.deepEqual(['grayscott.ts', 'grayscott/reaction.ts', 'params/fields.ts', 'julia.ts'].map(has), [
    true,
    true,
    true,
    false,
  ])
})

test('CN-2 other workloads are counted as they run: instructions, and accesses with allocations, the same next to other jobs', async (t) => {
  const { ask } = await poolOf(t, 'julia', 'dna')
  const alone = await ask('julia', { width: 40, height: 30 })
  const beside = await Promise.all([
    ask('julia', { width: 40, height: 30 }),
    ask('dna', { length: 2000 }),
    ask('julia', { width: 40, height: 30 }),
  ])
  assert.ok(alone.instCount > 0 && alone.totalAccesses > 0)
  for (const each of [beside[0], beside[2]]) {
    assert.deepEqual([each!.instCount, each!.totalAccesses], [alone.instCount, alone.totalAccesses])
  }
  assert.ok(Math.abs(alone.work! - alone.instCount - alone.totalAccesses) < 1e-6 * alone.work!)
  assert.equal(alone.work, workOf(alone.tally!, meter.formula))
})

test('CN-14 only the listed classes count: the fractal, the matcher and the renderer, not the picture or the genome', async (t) => {
  const { ask } = await poolOf(t, 'julia', 'dna')
  const { mode, formula } = meter
  const { start } = await usePool(t, { files: ['julia', 'dna'].map(workload), meter: { mode, formula } })
  const workOfAll = async (name: string, params: Record<string, unknown>) => {
    const run = start(name, params)
    assert.equal((await read(run)).kind, 'result')
    return (await run.ended).work!
  }
  const picture = { width: 60, height: 40, iterations: 1 }
  assert.ok((await ask('julia', picture)).work! < (await workOfAll('julia', picture)))
  // Without a match to render, the page costs little; the search is the same.
  const search = { length: 4000, seed: 3, limit: 0 }
  const [matched, rendered] = [await ask('dna', search), await ask('dna', { ...search, output: 'html' })]
  assert.ok(matched.work! < (await workOfAll('dna', search)))
  const shown = await ask('dna', { ...search, limit: 1000, output: 'html' })
  assert.ok(rendered.work! > matched.work! && shown.work! > rendered.work!)
})

test('CN-1 the DNA matcher returns an HTML page', async (t) => {
  const { ask } = await poolOf(t, 'dna')
  const { answer, text } = await ask('dna', { length: 2000, output: 'html' })
  assert.match(answer.contentType, /^text\/html/)
  assert.match(text, /<html/i)
})

test('workers receive steps and quantities on their command line', () => {
  const flags = meterFlags(meter)
  const extras = JSON.parse(flags[flags.indexOf('--meter-extras') + 1]!)
  assert.deepEqual(extras.steps, { grayscott: { instructions: 274, fieldLoads: 62 } })
  assert.deepEqual(
    extras.quantities.map(({ header }: { header: string }) => header),
    ['x-cnv-instcount', 'x-cnv-totalaccesses'],
  )
})

test('quantities require mode regions, and steps require known metrics', () => {
  assert.throws(
    () => checkMeter({ ...meter, mode: 'work' }),
    /instCount needs the meter's mode regions, not work/,
  )
  const odd = { ...meter, steps: { grayscott: { cells: 3 } as never } }
  assert.throws(() => checkMeter(odd), /unknown metric cells/)
})

test('the hash of a workload includes the cost of its steps', async () => {
  const files = [workload('grayscott'), workload('julia')]
  const { steps: _, ...plain } = meter
  const [bySteps, byCode] = await Promise.all([readCode(files, meter), readCode(files, plain)])
  assert.notEqual(bySteps.hashes.grayscott, byCode.hashes.grayscott)
  assert.equal(bySteps.hashes.julia, byCode.hashes.julia)
  assert.ok(!byCode.metered.except!.some((path) => path.includes('grayscott')))
})
