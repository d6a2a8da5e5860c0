/**
 * The preset cnv on a live cluster whose LIGHT requests overflow to Lambda functions: the real SDK in front, the real
 * runtime interface client behind, real handlers between. Each function is a process that is stopped between calls. Also
 * how failures of functions are told apart. node test/checks/aws/lambda.ts
 */

import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { partsOf } from '../../../src/cli/cluster/preset.ts'
import { lambdaProvider } from '../../../src/lambda/functions.ts'
import type { ClusterOptions } from '../../../src/live/cluster.ts'
import { presetOf } from '../../../src/systems/presets.ts'
import { type RicFunction, ricFunction } from '../../stands/lambda/ric.ts'
import type { StandFunction } from '../../stands/lambda/service.ts'
import { openFunctions, sendTo, useLambda } from '../../support/lambda.ts'
import { type Live, startLive, stopLive, until } from '../../support/live.ts'
import { npmPackages } from './installed.ts'
import type { Part } from './part.ts'

const ricVersion = '4.0.2'
const root = join(import.meta.dirname, '..', '..', '..')
const preset = presetOf('cnv', { timeScale: 15, workScale: 1 })

interface Ended {
  after(end: () => unknown): void
}

interface LambdaFigures {
  requests: number
  wrong: number
  lambda_invocations: number
  lambda_throttled: number
  lambda_cold_starts: number
}

export const lambdaFunctions: Part = {
  name: 'Lambda',
  async run(say) {
    const { lambda_cold_starts, ...figures } = await checkLambda()
    say(`${lambda_cold_starts} cold starts`)
    return figures
  },
}

/** Rejects if anything differs from what it must be. */
async function checkLambda(): Promise<LambdaFigures> {
  const ric = join(
    npmPackages(`aws-lambda-ric-${ricVersion}`, { 'aws-lambda-ric': ricVersion }),
    'aws-lambda-ric',
    'index.mjs',
  )
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-ric-'))
  try {
    await checkFailures(ric, folder)
    return await checkOverflow(ric, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The code of a function, as it is deployed: one file beside the package. */
function functionOf(
  ric: string,
  folder: string,
  workload: string,
  more: Partial<RicFunction>,
): StandFunction {
  const code = join(folder, workload)
  mkdirSync(code)
  const handler = pathToFileURL(join(root, 'src', 'lambda', 'handler.ts')).href
  writeFileSync(
    join(code, 'index.mjs'),
    `import { createHandler } from ${JSON.stringify(handler)}\nexport const handler = await createHandler()\n`,
  )
  const env = { PLIMSOLL_PRESET: 'cnv', PLIMSOLL_ONLY: workload, TMPDIR: code }
  return ricFunction({ ric, root: code, handler: 'index.handler', memoryMb: 512, env, ...more })
}

/** LIGHT requests while the only worker is full, more at a time than functions may run. */
async function checkOverflow(ric: string, folder: string): Promise<LambdaFigures> {
  const ends: (() => unknown)[] = []
  const t: Ended = { after: (end) => void ends.unshift(end) }
  const names = Object.entries(preset.lambdaFunctions!)
  const functions = names.map(
    ([workload, name]) => [name, functionOf(ric, folder, workload, { concurrency: 1 })] as const,
  )
  try {
    const stand = await useLambda(t, Object.fromEntries(functions))
    const live = await startLive(
      clusterOptions(names.map(([workload, name]) => `${workload}=${name}`).join(',')),
    )
    t.after(() => stopLive(live))
    const asked = requests()
    const filling = new AbortController()
    // By its parameters it is SUPER_HEAVY, as long as no row says otherwise, so that the worker is full.
    const long = fetch(`${live.url}/grayscott?size=1000&iterations=2000`, {
      signal: filling.signal,
    }).catch(() => {})
    await until(() => live.state().placed === 1, 'the worker is busy')
    const answers: { asked: number; answer: Response }[] = []
    const ask = async (index: number) => {
      answers.push({ asked: index, answer: await fetch(`${live.url}/${asked[index]}`) })
    }
    // First no more than run at a time, then all at once.
    for (let i = 0; i < asked.length; i += names.length)
      await Promise.all(names.map((_, offset) => ask(i + offset)))
    stand.faults.push({ status: 429, type: 'TooManyRequestsException', message: 'Rate Exceeded.' })
    const burst = Promise.all(asked.map((_, i) => ask(i)))
    await until(() => stand.counts.throttled > 0, 'a function has throttled')
    // Requests that functions do not take wait for the worker.
    filling.abort()
    await burst
    const expected = await Promise.all(asked.map((each) => textOf(live, each)))
    let wrong = 0
    let away = 0
    for (const { asked: index, answer } of answers) {
      if ((await answer.text()) !== expected[index]) wrong++
      if (answer.headers.get('plimsoll-worker') === 'function:lambda') away++
    }
    await long
    const { invocations, throttled, coldStarts } = stand.counts
    assert.equal(wrong, 0, `${wrong} wrong answers`)
    assert.ok(away >= asked.length, `only ${away} requests were answered by functions`)
    assert.ok(throttled > 0, 'no request was throttled')
    await live.ledger.flush()
    const recent = preset.workloads!.map((workload) => live.ledger.recent({ workload, limit: 1000 }))
    const rows = (await Promise.all(recent)).flat()
    const learned = rows.filter(({ worker, work }) => worker === 'function:lambda' && work > 0).length
    assert.equal(learned, away, 'the measurements of functions are in the ledger')
    return {
      ...{ requests: answers.length, wrong, lambda_invocations: invocations },
      ...{ lambda_throttled: throttled, lambda_cold_starts: coldStarts },
    }
  } finally {
    for (const end of ends) await end()
  }
}

function clusterOptions(names: string): Partial<ClusterOptions> {
  const parts = partsOf(preset)
  const { concurrency, memoryMb, perWorkload: _, ...brain } = preset.overflow!
  return {
    ...parts,
    files: preset.workloads!.map((name) => join(root, 'workloads', `${name}.ts`)),
    ...(preset.meter && { meter: preset.meter }),
    ...{ min: 1, max: 1, slots: 17, queue: 1000, jobMemoryMb: 512 },
    functions: {
      ...{ most: concurrency, command: [], provider: lambdaProvider(names), brain },
      ...(memoryMb !== undefined && { memoryMb }),
    },
  }
}

function requests(): string[] {
  const sizes = [2, 3, 4, 5]
  return sizes.flatMap((n) => [
    `julia?width=${n}&height=${n}&iterations=${n}`,
    `grayscott?size=16&iterations=${n}`,
    `dna?mode=align&length=${10 * n}`,
  ])
}

async function textOf(live: Live, asked: string): Promise<string> {
  const answer = await fetch(`${live.url}/${asked}`)
  const text = await answer.text()
  assert.equal(answer.status, 200, `${asked}: ${text}`)
  return text
}

const failures: Readonly<Record<string, RegExp | string>> = {
  throws: /RangeError: no such table/,
  exits: /Runtime exited with error: exit status 3/,
  unloadable: /the database is not reachable/,
  hangs: 'timeout',
  long: 'limit',
  grows: 'limit',
  exceeds: 'throttled',
}

/** How a function fails decides what becomes of its job. */
async function checkFailures(ric: string, folder: string): Promise<void> {
  const ends: (() => unknown)[] = []
  const t: Ended = { after: (end) => void ends.unshift(end) }
  const code = join(folder, 'faulty')
  for (const file of ['faulty.mjs', 'unloadable.mjs'])
    cpSync(join(root, 'test', 'stands', 'lambda', file), join(code, file))
  const functions = Object.keys(failures).map((name) => {
    const handler = name === 'unloadable' ? 'unloadable.handler' : `faulty.${name}`
    // A function that runs out of memory may collect garbage for long before that.
    const timeoutMs = name === 'hangs' ? 1_000 : 60_000
    return [name, ricFunction({ ric, root: code, handler, memoryMb: 128, timeoutMs })] as const
  })
  try {
    await useLambda(t, Object.fromEntries(functions))
    for (const [name, expected] of Object.entries(failures)) {
      const { functions: opened } = openFunctions(t, name)
      const sent = sendTo(opened, 'any')
      if (typeof expected === 'string') assert.equal((await sent).outcome, expected, name)
      else await assert.rejects(sent, expected)
    }
  } finally {
    for (const end of ends) await end()
  }
}

if (import.meta.main) console.log(JSON.stringify(await checkLambda()))
