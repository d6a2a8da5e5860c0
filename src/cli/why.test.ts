/** Stories on the command line: from a cluster, after a request, and from a log. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { deserted, run, startUp, type Up } from './testing/program.ts'

let up: Up
before(async () => {
  up = await startUp()
})
after(() => up.stop())

const request = (...args: string[]) => run(['request', 'factorize', 'n=21', ...args, '--url', up.url])
const story =
  /Job (\S+) \(factorize\)\nIt took [\s\S]*\n\n +0 ms {2}Arrived: a factorize job[\s\S]*Started on w1[\s\S]*Answered after .*/

test('request --why prints the story on stderr, and why prints the same', async () => {
  const { code, stdout, stderr } = await request('--why', '--admin', up.adminUrl)
  assert.equal(code, 0, stderr)
  assert.deepEqual(JSON.parse(stdout).factors, ['3', '7'])
  const [told = '', job = ''] = story.exec(stderr) ?? []
  assert.match(stderr, new RegExp(`^job ${job} · .*\\n\\nJob ${job} `))
  const again = await run(['why', job, '--admin', up.adminUrl])
  assert.equal(again.code, 0)
  assert.ok(again.stdout.startsWith(told), again.stdout)
})

test('request --json --why includes the story that why --json prints', async () => {
  const { stdout } = await request('--json', '--why', '--admin', up.adminUrl)
  const { job, why } = JSON.parse(stdout)
  assert.equal(why.job, job)
  const again = await run(['why', job, '--json', '--admin', up.adminUrl])
  assert.deepEqual(JSON.parse(again.stdout), why)
})

test('commands find the cluster that uses a data folder', async () => {
  const { code, stderr } = await run(['request', 'factorize', 'n=21', '--why', '--data', up.data])
  assert.equal(code, 0, stderr)
  const [, job = ''] = story.exec(stderr) ?? []
  const [again, status, workloads, estimate] = await Promise.all(
    [['why', job], ['status'], ['workloads', '--json'], ['estimate', 'factorize', 'n=21']].map((args) =>
      run([...args, '--data', up.data]),
    ),
  )
  assert.match(again!.stdout, new RegExp(`^Job ${job} `))
  assert.match(status!.stdout, /w1/)
  assert.equal(JSON.parse(workloads!.stdout).source, up.url)
  assert.match(estimate!.stdout, /^factorize/)
})

test('prints the answer without the admin port, and stderr says what to do', async () => {
  const url = await deserted()
  const plain = await request('--why', '--admin', url)
  assert.deepEqual([plain.code, JSON.parse(plain.stdout).n], [0, '21'])
  assert.match(plain.stderr, new RegExp(`the story cannot be told: nobody listens at ${url}.*--admin`))
  const json = await request('--why', '--json', '--admin', url)
  assert.equal(JSON.parse(json.stdout).why, null)
  const asked = await run(['why', 'some-job', '--admin', url])
  assert.deepEqual([asked.code, asked.stdout], [2, ''])
  assert.match(asked.stderr, /^plimsoll: nobody listens at /)
  const wrong = await run(['why', 'some-job', '--admin', up.url])
  assert.match(wrong.stderr, /answered 404: is it the admin port of a cluster\?/)
})

test('reports forgotten jobs, rejected requests and bad arguments', async () => {
  const unknown = await run(['why', 'nobody', '--admin', up.adminUrl])
  assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
  assert.match(unknown.stderr, /^404 Not Found\n {2}Job nobody is unknown/)
  const refused = await run(['request', 'julia', 'width=0', '--why', '--url', up.url])
  assert.match(refused.stderr, /the request did not become a job/)
  const none = await run(['why'])
  assert.equal(none.code, 2)
  assert.match(none.stderr, /why: give one job id/)
})

test('replay --why prints the story of a job in a log', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-why-'))
  try {
    const log = join(folder, 'log')
    await run(['simulate', '--jobs', '300', '--log', log])
    const { code, stdout } = await run(['replay', log, '--why', 'j7'])
    assert.equal(code, 0)
    assert.match(stdout, /^Job j7 \(sim\)\nIt took [\s\S]*\n\n +0 ms {2}Arrived: [\s\S]*Answered after/)
    const json = await run(['replay', log, '--why', 'j7', '--json'])
    assert.equal(JSON.parse(json.stdout).job, 'j7')
    const nobody = await run(['replay', log, '--why', 'x'])
    assert.equal(nobody.code, 2)
    assert.match(nobody.stderr, /--why = x: not found in the log, which has 300 jobs/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
