/** Output, files and exit codes of the commands that simulate. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { ChaosResult } from '../simulate/chaos.ts'
import { simulate } from './simulate.ts'
import { run } from './testing/program.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-simulations-'))
after(() => rmSync(folder, { recursive: true }))

const file = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const functions = file(
  'functions.csv.gz',
  gzipSync(
    `t_ms,fn,trigger,duration_ms\n${Array.from({ length: 3000 }, (_, i) => `${i * 20},f,http,${1 + ((i * 37) % 90)}\n`).join('')}`,
  ),
)
const cup = file(
  'cup.csv',
  `period,count\n${Array.from({ length: 60 }, (_, i) => `1998-06-30 10:${String(i).padStart(2, '0')}:00,${5000 + 100 * i}\n`).join('')}`,
)

test('compare replays a trace for every policy, and prints only its result without a terminal', async () => {
  const { code, stdout, stderr } = await run([
    'compare',
    'least-connections,srpt',
    '--trace',
    functions,
    '--workers',
    '1',
    '--load',
    '0.8',
    '--seeds',
    '2',
  ])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(
    stdout,
    /^1 workers × 2 cores, functions\.csv\.gz \(azure-functions\): 3,000 jobs, load 0\.8 \(time × [\d.]+\), sizes as recorded, estimates off by σ = 0\.5\n/,
  )
  assert.match(stdout, /\nMedians of 2 seeds, 3,000 jobs each, in /)
})

test('combines World Cup arrivals with sizes of another trace', async () => {
  const { code, stdout, stderr } = await run([
    'compare',
    'srpt',
    '--trace',
    cup,
    '--sizes',
    functions,
    '--from',
    '1998-06-30 10:30',
    '--load',
    '0.5',
    '--seeds',
    '1',
    '--json',
  ])
  assert.deepEqual([code, stderr], [0, ''])
  const { traffic, policies } = JSON.parse(stdout)
  assert.equal(traffic.load, 0.5)
  assert.ok(traffic.notes.includes('Arrivals and sizes come from different systems.'))
  assert.ok(Math.abs(policies[0].jobs / traffic.jobs - 1) < 0.05)
  assert.ok(policies[0].meanSlowdown >= 1)
})

test('warns if a trace at its own pace overloads the fleet', async () => {
  const { stdout } = await run(['simulate', '--trace', cup, '--sizes', 'exponential', '--jobs', '500'])
  assert.match(stdout, /cup\.csv \(world-cup\): 500 jobs, load \S+ \(as recorded\)/)
  assert.match(stdout, /more than the fleet can do; --load fits it/)
})

test('an event log of simulate is a trace with its own estimates', async () => {
  const log = join(folder, 'events')
  const written = await run(['simulate', '--jobs', '2000', '--error', '1', '--log', log, '--json'])
  const [again, forgotten] = await Promise.all([
    run(['simulate', '--trace', log, '--json']),
    run(['compare', 'srpt', '--trace', log, '--error', '0', '--seeds', '1']),
  ])
  const [a, b] = [JSON.parse(written.stdout), JSON.parse(again.stdout)]
  assert.equal(b.jobs, 2000)
  assert.ok(Math.abs(b.meanResponseMs / a.meanResponseMs - 1) < 0.01)
  assert.match(forgotten.stdout, /estimates off by σ = 0\n/)
})

test('a report is one page with plots, figures and its command', async () => {
  const report = join(folder, 'a b.html')
  const args = [
    'compare',
    'least-connections,srpt:fifo',
    '--trace',
    functions,
    '--load',
    '0.5',
    '--seeds',
    '2',
    '--report',
    report,
  ]
  const { code, stdout } = await run(args)
  assert.equal(code, 0)
  assert.ok(stdout.endsWith(`Plots: ${report}\n`))
  const html = readFileSync(report, 'utf8')
  assert.equal(html.match(/<figure/g)?.length, 6)
  assert.match(html, /<li><svg.*<\/svg>srpt:fifo<\/li>/)
  assert.ok(html.includes(`plimsoll compare least-connections,srpt:fifo --trace ${functions} --load 0.5`))
  assert.ok(html.includes(`--report '${report}'`))
  assert.doesNotMatch(html, /NaN|undefined|Infinity|https?:/)
  await run(args)
  assert.equal(readFileSync(report, 'utf8'), html, 'the same command makes the same page')
})

test('simulate writes a report, even of very few jobs', async () => {
  const report = join(folder, 'one.html')
  const { code } = await run(['simulate', '--jobs', '1', '--report', report])
  assert.equal(code, 0)
  assert.doesNotMatch(readFileSync(report, 'utf8'), /NaN|undefined|Infinity/)
})

test('rejects bad arguments before anything runs', async () => {
  const missing = join(folder, 'missing')
  const report = join(folder, 'never.html')
  const wrong: [string[], RegExp][] = [
    [['--trace', missing, '--report', report], /--trace = .*missing: cannot be read \(ENOENT\)/],
    [['--trace', functions, '--trace-format', 'csv'], /--trace-format = csv: must be one of world-cup, /],
    [
      ['--trace', functions, '--arrivals', 'poisson'],
      /--arrivals = poisson: cannot be combined with --trace/,
    ],
    [['--trace', functions, '--thin', '2'], /--thin = 2: must be a number from 1e-9 to 1/],
    [['--trace', functions, '--from', 'noon'], /--from = noon: must be seconds since the trace begins/],
    [['--until', '5'], /--until = 5: requires --trace/],
    [
      ['--trace', functions, '--sizes', cup],
      /--sizes = .*cup\.csv: contains counts only \(world-cup\); must be a trace with sizes/,
    ],
    [
      ['--sizes', 'huge'],
      /--sizes = huge: must be one of pareto, lognormal, bimodal, exponential, or a file/,
    ],
    [['--arrivals', 'often'], /--arrivals = often: must be one of poisson, bursty, diurnal, or a file/],
    [['--token-ms', '1'], /--token-ms = 1: must be two numbers, 0 or more and not both 0, such as 0\.1,30/],
    [['--report', folder], /--report = .*: cannot be written \(EISDIR\)/],
    [['--report', join(missing, 'x.html')], /--report = .*: cannot be written \(ENOENT\)/],
    [['--faults', '--trace', functions], /--trace = .*: cannot be combined with --faults/],
    [['--take-over'], /--take-over requires --faults/],
  ]
  for (const [args, message] of wrong)
    await assert.rejects(async () => simulate.run(args), { code: 'CONFIG', message }, args.join(' '))
  assert.equal(existsSync(report), false)
})

test('simulate runs a seed of faults, with deaths of the brain if asked for', async () => {
  const args = ['simulate', '--faults', '--seed', '6', '--json']
  const plain = JSON.parse((await run(args)).stdout) as ChaosResult
  assert.equal(plain.adopted, 0)
  const taken = JSON.parse((await run([...args, '--take-over'])).stdout) as ChaosResult
  assert.ok(taken.adopted > 0, `${taken.adopted} attempts went on under another brain`)
})

test('simulate runs a preset with its scaling, and rejects what a preset replaces', async () => {
  const { code, stdout } = await run(['simulate', '--preset', 'knative', '--jobs', '200', '--workers', '3'])
  assert.equal(code, 0)
  assert.match(stdout, /^0 to 3 workers × 2 cores/)
  assert.match(stdout, /^knative: two-choices \(sharing\) +seed 1$/m)
  assert.match(stdout, /^most workers +[1-3]$/m)
  for (const [args, message] of [
    [['--preset', 'nginx', '--policy', 'srpt'], /--preset = nginx: cannot be combined with --policy/],
    [['--preset', 'nginx', '--faults'], /--preset = nginx: cannot be combined with --faults/],
    [['--preset', 'apache'], /--preset = apache: must be one of plimsoll, classic, nginx/],
    [['--policy', 'nginx'], /policy = nginx: is a preset; say simulate --preset nginx/],
  ] as const) {
    const rejected = await run(['simulate', ...args])
    assert.equal(rejected.code, 2)
    assert.match(rejected.stderr, message)
  }
})

test('simulate runs a published system on recorded requests, unless options ask for others', async () => {
  const asked = ['simulate', '--preset', 'hillclimbing', '--jobs', '40']
  const { code, stdout } = await run(asked)
  assert.equal(code, 0)
  assert.match(
    stdout,
    /recorded requests of hillclimb \(50 % repeated\), estimated by the preset's estimator/,
  )
  assert.equal((await run(asked)).stdout.match(/sha256 +(\w+)/)?.[1], stdout.match(/sha256 +(\w+)/)![1])
  const { stdout: generated } = await run([...asked, '--error', '0.2'])
  assert.match(generated, /sizes lognormal, estimates off by σ = 0\.2/)
})
