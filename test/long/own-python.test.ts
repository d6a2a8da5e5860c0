/** The unchanged Python example as an existing server: learned from CPU time, paused, killed and logged. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { stream } from '../../src/lib/random.ts'
import { median } from '../../src/simulate/summary.ts'
import { cpuMs } from '../../src/worker/processes/proc.ts'
import { hasPython } from '../../src/worker/program/testing/use-programs.ts'
import { type Live, stopLive, until, untilIdle } from '../support/live.ts'
import { programs, startOwn } from '../support/own-programs.ts'

const example = join(import.meta.dirname, '..', '..', 'examples', 'python', 'plimsoll.config.mts')
const skip = hasPython ? false : 'python3 is not installed'

let live: Live
before(async () => {
  if (hasPython) live = await startOwn(example)
})
after(async () => {
  if (hasPython) await stopLive(live)
})

const primes = (below: number) => fetch(`${live.url}/primes?below=${below}`)

/** Finds the program that has used this much CPU time since now. One that still starts uses less. */
function workingProgram(leastMs: number) {
  const before = new Map(programs('app.py').map(({ pid }) => [pid, cpuMs(pid) ?? Infinity]))
  return () =>
    programs('app.py').find(({ pid }) => (cpuMs(pid) ?? 0) - (before.get(pid) ?? Infinity) >= leastMs)
}

async function quote(below: number): Promise<{ work: number; unproven?: true }> {
  const answer = await fetch(`${live.url}/-/estimate/primes?below=${below}`)
  return (await answer.json()) as { work: number; unproven?: true }
}

test('after 50 requests quotes are accurate, from CPU time alone', { skip }, async () => {
  const random = stream(7, 'sizes')
  const size = () => Math.round(30_000 * 20 ** random.next())
  for (let i = 0; i < 50; i++) {
    const answer = await primes(size())
    assert.equal(answer.status, 200)
    await answer.arrayBuffer()
  }
  const errors: number[] = []
  for (let i = 0; i < 21; i++) {
    const below = size()
    const { work: expected } = await quote(below)
    const answer = await primes(below)
    await answer.arrayBuffer()
    const work = Number(answer.headers.get('plimsoll-work'))
    errors.push(Math.max(expected / work, work / expected))
  }
  // An idle machine gives 1.1 (`bench own`). On a busy one, the same request may take twice the CPU time.
  assert.ok(median(errors) <= 2, `median q-error ${median(errors)}`)
  await live.ledger.flush()
  const [row] = await live.ledger.recent({ limit: 1, workload: 'primes' })
  assert.equal(row?.measure, 'cpu')
})

test('a short request preempts a long one, whose program is stopped', { skip }, async () => {
  // Requests that are far larger than all before are not ranked by their estimates: they share the core.
  for (let i = 0; i < 40 && (await quote(12_000_000)).unproven; i++)
    await (await primes(6_000_000 + 200_000 * i)).arrayBuffer()
  await untilIdle(live)
  const answered: string[] = []
  let stopped = false
  const watch = setInterval(() => {
    stopped ||= programs('app.py').some(({ state }) => state === 'T')
  }, 5)
  const working = workingProgram(150)
  const long = primes(12_000_000).then(async (answer) => {
    answered.push('long')
    return answer.json()
  })
  await until(() => working() !== undefined, 'the long one runs')
  const short = primes(1_000_000).then(async (answer) => {
    answered.push('short')
    return answer.json()
  })
  assert.deepEqual(await short, { below: 1_000_000, primes: 78_498 })
  assert.deepEqual(await long, { below: 12_000_000, primes: 788_060 })
  clearInterval(watch)
  assert.deepEqual(answered, ['short', 'long'])
  assert.equal(stopped, true)
})

test('a request whose program is killed is repeated if that is allowed', { skip }, async () => {
  await untilIdle(live)
  const working = workingProgram(150)
  const answer = primes(12_000_000)
  const killWorking = () => {
    const program = working()
    return program && process.kill(program.pid, 'SIGKILL')
  }
  await until(killWorking, 'it runs and is killed')
  const got = await answer
  assert.deepEqual(await got.json(), { below: 12_000_000, primes: 788_060 })
  assert.equal(got.headers.get('plimsoll-attempts'), '2')
})

test('uploads arrive complete, with a length and in chunks', { skip }, async () => {
  const bytes = Buffer.alloc(3_000_000, 'Plimsoll ')
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const put = (body: Buffer | ReadableStream) =>
    fetch(`${live.url}/upload/a`, { method: 'PUT', body, duplex: 'half' })
  const whole = await put(bytes)
  assert.deepEqual(await whole.json(), { name: 'a', bytes: bytes.length, sha256 })
  const chunked = await put(new Blob([bytes]).stream())
  assert.deepEqual(await chunked.json(), { name: 'a', bytes: bytes.length, sha256 })
})

test('a stream is passed on as it arrives', { skip }, async () => {
  const answer = await fetch(`${live.url}/count?to=5`)
  const chunks: string[] = []
  for await (const chunk of answer.body!) chunks.push(Buffer.from(chunk).toString())
  assert.equal(chunks.join(''), '1\n2\n3\n4\n5\n')
  assert.ok(chunks.length > 1, 'the stream came in one piece')
})

test('its output is in the log with the name of its slot', { skip }, async () => {
  const told = [
    /^worker .*: slot 1: listening on port \d+$/,
    /: slot \d+: .*"GET \/primes\?below=12000000 HTTP\/1.1" 200 -$/,
    /: slot \d+: was ended by SIGKILL/,
  ]
  // Output does not travel with the answer and may arrive later.
  for (const line of told) await until(() => live.lines.some((each) => line.test(each)), `${line}`)
})
