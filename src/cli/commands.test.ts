/** Output and exit codes of the commands that talk to a cluster. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { ConfigError } from '../lib/errors.ts'
import type { ClusterState } from '../live/cluster.ts'
import { runUp } from './cluster/run-up.ts'
import { demo } from './demo.ts'
import { estimate } from './estimate.ts'
import type { Command } from './options.ts'
import { request } from './request.ts'
import { status } from './status.ts'
import { getJson } from './terminal/client.ts'
import { deserted, run, start, startUp, type Up } from './testing/program.ts'
import { worker } from './worker.ts'

let cluster: Up
let folder: string

before(async () => {
  cluster = await startUp()
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-cli-test-'))
})
after(async () => {
  await cluster.stop()
  rmSync(folder, { recursive: true })
})

/** The product of two large primes takes longer than any test. */
const endless = 'n=1000000000000000012000000000000000027'

const ask = (...args: string[]) => run(['request', ...args, '--url', cluster.url])
const state = () => getJson<ClusterState>(new URL(cluster.adminUrl), '/api/state')

async function until(holds: (state: ClusterState) => boolean): Promise<void> {
  while (!holds(await state())) await wait(20)
}

test('request prints the answer to stdout and the facts about the job to stderr', async () => {
  const { code, stdout, stderr } = await ask('factorize', 'n=12')
  assert.equal(code, 0, stderr)
  assert.deepEqual(JSON.parse(stdout), { n: '12', factors: ['2', '2', '3'] })
  assert.match(stderr, /^job \S+ · worker w1 · 1 attempt · work \S+ · queue .* · run .*\n$/)
})

test('request --json prints one object with the answer and its cost', async () => {
  const { code, stdout, stderr } = await ask('factorize', 'n=15', '--json')
  const { status, worker, attempts, body, job } = JSON.parse(stdout)
  assert.deepEqual(
    { code, status, worker, attempts, body },
    { code: 0, status: 200, worker: 'w1', attempts: 1, body: { n: '15', factors: ['3', '5'] } },
  )
  assert.ok(job)
  assert.equal(stderr, '')
})

test('request writes a picture unchanged to a pipe and to a file', async () => {
  const file = join(folder, 'picture.png')
  const params = ['julia', 'width=30', 'height=20']
  const { stdoutBytes } = await ask(...params)
  const { code, stdout } = await ask(...params, '--out', file)
  assert.deepEqual([code, stdout], [0, ''])
  assert.deepEqual(readFileSync(file), stdoutBytes)
  assert.equal(stdoutBytes.subarray(1, 4).toString(), 'PNG')
  // A rejection neither changes nor creates the file.
  await ask('julia', 'width=0', '--out', file)
  assert.deepEqual(readFileSync(file), stdoutBytes)
  await ask('julia', 'width=0', '--out', `${file}.new`)
  assert.equal(existsSync(`${file}.new`), false)
})

test('request sends a body from a file or from standard input, and the parameters in the query', async () => {
  const file = join(folder, 'body')
  writeFileSync(file, 'some bytes')
  const fromFile = await ask('factorize', 'n=21', '--body', file)
  const fromInput = await run(
    ['request', 'factorize', 'n=21', '--body', '-', '--url', cluster.url],
    'some bytes',
  )
  for (const { code, stdout } of [fromFile, fromInput]) {
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout).factors, ['3', '7'])
  }
})

test('request prints a rejection field by field and exits with 1', async () => {
  const { code, stdout, stderr } = await ask('julia', 'width=0', 'height=x')
  assert.deepEqual([code, stdout], [1, ''])
  assert.equal(
    stderr,
    '400 Bad Request\n' +
      '  width: must be a whole number from 1 to 4096, not 0\n' +
      '  height: must be a whole number from 1 to 4096, not "x"\n',
  )
  const unknown = await ask('nothing')
  assert.equal(unknown.code, 1)
  assert.match(
    unknown.stderr,
    /^404 Not Found\n {2}There is no workload at \/nothing\. There are: .*\/factorize/,
  )
})

test('estimate prints the cost of a request and its reason, line by line', async () => {
  const { code, stdout, stderr } = await run(['estimate', 'grayscott', '--url', cluster.url])
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(
    stdout,
    new RegExp(
      '^grayscott\n' +
        ' {2}work {4}[\\d,]+ +90 % between [\\d,.]+ and [\\d,]+\n' +
        ' {2}time {4}[\\d.]+ \\w+ +90 % between .* and .*\n' +
        ' {2}wait {4}none\n' +
        ' {2}memory {2}\\d+ MB\n' +
        ' {2}why {5}model .* fitted to \\d+ requests; .* \\(model\\)\n$',
    ),
  )
})

test('estimate --json prints the quote of the cluster, with and without a body', async () => {
  const file = join(folder, 'upload')
  writeFileSync(file, 'ACGT'.repeat(100))
  const asked = run(['estimate', 'dna', 'pattern=ACGT', '--body', file, '--json', '--url', cluster.url])
  const { code, stdout } = await asked
  const { workload, work, seconds, waitSeconds, reason } = JSON.parse(stdout)
  assert.deepEqual([code, workload, waitSeconds], [0, 'dna', 0])
  assert.ok(work > 0 && seconds.expected > 0 && reason.code)
})

test('estimate rejects what request rejects', async () => {
  const [refused, refusedJson] = await Promise.all([
    run(['estimate', 'julia', 'width=0', '--url', cluster.url]),
    run(['estimate', 'julia', 'width=0', '--json', '--url', cluster.url]),
  ])
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.equal(refused.stderr, '400 Bad Request\n  width: must be a whole number from 1 to 4096, not 0\n')
  assert.deepEqual([refusedJson.code, JSON.parse(refusedJson.stdout).status], [1, 400])
})

test('request reports a missed deadline', async () => {
  const { code, stderr } = await ask('factorize', endless, '--deadline', '50')
  assert.equal(code, 1)
  assert.match(stderr, /^504 Gateway Timeout\n/)
})

test('interrupting request cancels its job', async () => {
  await until(({ jobs }) => jobs === 0)
  const { cancelled } = (await state()).counters
  const { process: child, ended } = start(['request', 'factorize', endless, '--url', cluster.url])
  await until(({ workers }) => workers.some(({ jobs }) => jobs.some((job) => job.running)))
  child.kill('SIGINT')
  assert.deepEqual((await ended).code, 130)
  await until(({ jobs, counters }) => jobs === 0 && counters.cancelled === cancelled + 1)
})

test('without a cluster, request and status say what to do and exit with 2', async () => {
  const url = await deserted()
  const sent = [run(['request', 'factorize', 'n=12', '--url', url]), run(['status', '--admin', url])]
  for (const { code, stderr } of await Promise.all(sent)) {
    assert.equal(code, 2)
    assert.equal(stderr, `plimsoll: nobody listens at ${url}: is a cluster up? start one with: plimsoll up\n`)
  }
})

test('an unknown option points to the help page of its command', async () => {
  const { code, stderr } = await run(['status', '--watchh'])
  assert.deepEqual(
    [code, stderr],
    [
      2,
      "plimsoll: Unknown option '--watchh'; did you mean --watch?\nplimsoll status --help lists its options.\n",
    ],
  )
})

test('rejects bad arguments and says what is allowed', async () => {
  const wrong: [string[], RegExp][] = [
    [['request'], /name a workload/],
    [['estimate'], /estimate: name a workload/],
    [['estimate', 'factorize', '12'], /estimate: 12: must be name=value/],
    [['estimate', 'factorize', '--deadline', '5'], /^Unknown option '--deadline'$/],
    [['up', '--price-per-hour=-1'], /--price-per-hour = -1: must be a number from 0 to 1000000000/],
    [['up', '--client-by', 'ip'], /--client-by = ip: must be address, key or header:NAME/],
    [['up', '--rate-limit', '0s'], /--rate-limit = 0s: must be units of work above 0, or seconds/],
    [['up', '--rate-limit', '9m'], /--rate-limit = 9m: must be units of work/],
    [['up', '--rate-limit', '9', '--rate-burst', 'x'], /--rate-burst = x: must be units of work/],
    [['up', '--rate-burst', '9'], /--rate-burst = 9: requires --rate-limit/],
    [['request', 'factorize', '--key', 'a b'], /--key: must be visible ASCII/],
    [['request', 'factorize', '12'], /request: 12: must be name=value/],
    [['request', 'factorize', 'n=1', 'n=2'], /n: given more than once/],
    [
      ['request', 'factorize', '--url', 'localhost:80'],
      /--url = localhost:80: must be an address such as http/,
    ],
    [['request', 'factorize', '--body', '/nowhere/x'], /--body = \/nowhere\/x: cannot be read \(ENOENT\)/],
    [['status', 'now'], /status: unexpected now/],
    [['up', '--meter', 'fuel'], /--meter = fuel: must be one of work, regions, routines, off/],
    [['worker', '--join', 'http://127.0.0.1:1', '--meter', 'on'], /--meter = on: must be one of work, /],
    [['up', '--join-address', '8082'], /--join-address = 8082: must be HOST:PORT, such as/],
    [['demo', '--seconds', '0'], /--seconds = 0: must be a number from 1 to 600/],
  ]
  const up = { run: (args: string[]) => runUp(args) }
  const commands: Record<string, Pick<Command, 'run'>> = { request, estimate, up, status, worker, demo }
  for (const [[name = '', ...args], message] of wrong)
    await assert.rejects(
      async () => commands[name]!.run(args),
      (error) => {
        assert.ok(error instanceof ConfigError, `${name} ${args.join(' ')}: ${error}`)
        assert.match(error.message, message)
        return true
      },
    )
  const refused = await run(['status', 'now'])
  assert.deepEqual(
    [refused.code, refused.stdout, refused.stderr],
    [2, '', 'plimsoll: status: unexpected now\n'],
  )
  const unwritable = await ask('factorize', 'n=12', '--out', join(folder, 'nowhere', 'x'))
  assert.equal(unwritable.code, 2)
  assert.match(unwritable.stderr, /--out = .*: cannot be written \(ENOENT\)/)
})

test('status shows totals and a table of workers, and the same state as JSON', async () => {
  const [shown, json] = await Promise.all([
    run(['status', '--admin', cluster.adminUrl]),
    run(['status', '--admin', cluster.adminUrl, '--json']),
  ])
  const { workers } = JSON.parse(json.stdout) as ClusterState
  assert.match(shown.stdout, /^up .* · srpt · 1 worker ready\n\d+ jobs accepted: \d+ answered/)
  assert.match(shown.stdout, new RegExp(`\\nw1 +ready +${workers[0]?.pid} +0 of 1 +0 of 17 +0 +`))
  assert.match(workers[0]!.address!, /^127\.0\.0\.1:\d+$/)
  assert.ok(shown.stdout.includes(` ${workers[0]!.address}\n`))
  assert.match(shown.stdout, /ago +0 ready, 1 booting +1 worker launched: 0 workers, and the minimum is 1\n/)
  assert.match(shown.stdout, /ago +1 ready +w1 joined, .* after its launch$/m)
})

test('help COMMAND prints the same page as COMMAND --help, and help alone lists the commands', async () => {
  const [page, option, list, unknown] = await Promise.all([
    run(['help', 'status']),
    run(['status', '--help']),
    run(['help']),
    run(['help', 'stauts']),
  ])
  assert.match(page.stdout, /^Show the state of a cluster.*\n\nUsage: plimsoll status/)
  assert.equal(page.stdout, option.stdout)
  assert.match(list.stdout, /^ {2}status {2,}Show the state/m)
  assert.deepEqual([page.code, list.code, unknown.code], [0, 0, 2])
  assert.match(
    unknown.stderr,
    /^plimsoll: there is no command stauts; did you mean status\?\nCommands are: up, /,
  )
})

test('colours follow FORCE_COLOR and NO_COLOR, of which the latter wins without a warning', async () => {
  const forced = start(['presets', 'plimsoll'], { NO_COLOR: '', FORCE_COLOR: '1' }).ended
  const both = start(['presets', 'plimsoll'], { NO_COLOR: '1', FORCE_COLOR: '1' }).ended
  assert.equal((await forced).stdout.startsWith('\u001b[1mplimsoll'), true)
  assert.equal((await both).stdout.startsWith('plimsoll\n'), true)
  assert.deepEqual([(await forced).stderr, (await both).stderr], ['', ''])
})

test('status --watch runs until it is interrupted', async () => {
  const { process: child, ended, said } = start(['status', '--watch', '--json', '--admin', cluster.adminUrl])
  await said(/\n.*\n/)
  child.kill('SIGINT')
  assert.equal((await ended).code, 130)
})

test('workloads lists the workloads of the cluster, or the bundled ones without a cluster', async () => {
  const url = await deserted()
  const [live, bundled] = await Promise.all([
    run(['workloads', '--url', cluster.url]),
    run(['workloads', '--url', url]),
  ])
  assert.match(live.stdout, /\nfactorize +\/factorize +The prime factors/)
  assert.equal(live.stderr, '')
  assert.equal(bundled.stdout, live.stdout)
  assert.match(bundled.stderr, /come with the program, because nobody listens/)
})

test('presets lists the presets, or describes one with all its rules', async () => {
  const { code, stdout } = await run(['presets'])
  assert.equal(code, 0)
  assert.match(stdout, /^plimsoll\n {2}Shortest remaining work first/m)
  assert.match(stdout, /^classic$/m)
  const json = JSON.parse((await run(['presets', '--json'])).stdout)
  assert.equal(json[0].name, 'plimsoll')
  assert.equal(json[0].scheduler, 'srpt')
  const unknown = await run(['presets', 'nosuch'])
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /preset = nosuch: must be one of plimsoll, classic/)
})
