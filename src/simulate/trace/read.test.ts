import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ConfigError } from '../../lib/errors.ts'
import { looksLikeTrace, type ReadOptions, readTrace } from './read.ts'
import type { RecordedCounts, RecordedJobs } from './trace.ts'

const folder = mkdtempSync(join(tmpdir(), 'plimsoll-traces-'))
after(() => rmSync(folder, { recursive: true }))

const path = join(folder, 'trace')
function holding(content: string | Uint8Array) {
  writeFileSync(path, content)
  return { option: '--trace', path }
}
const jobsOf = async (content: string | Uint8Array, options: ReadOptions = {}) =>
  (await readTrace(holding(content), options)).recorded as RecordedJobs

const refuses = (content: string | Uint8Array, message: RegExp | string, options: ReadOptions = {}) =>
  assert.rejects(readTrace(holding(content), options), (error) => {
    assert.ok(error instanceof ConfigError, String(error))
    assert.ok(error.message.startsWith(`--trace = ${path}: `) || options.format, error.message)
    const found = typeof message === 'string' ? error.message.includes(message) : message.test(error.message)
    assert.ok(found, error.message)
    return true
  })

const functions = 't_ms,fn,trigger,duration_ms\n58,88,http,10.1\n216,186,http,2734.9\n216,7,http,0\n'

test('azure-functions: arrivals and durations; a duration of 0 counts as 0.1 ms', async () => {
  const trace = await readTrace(holding(functions))
  const { atMs, seconds } = trace.recorded as RecordedJobs
  assert.deepEqual([trace.format, trace.dated], ['azure-functions', false])
  assert.deepEqual([...atMs], [58, 216, 216])
  assert.deepEqual([...seconds], [0.0101, 2.7349, 0.0001])
  assert.deepEqual(trace.notes, ['1 of 3 durations below 0.1 ms count as 0.1 ms.'])
})

test('azure-llm: CRLF, fractions of milliseconds, and tokens converted to work by two factors', async () => {
  const content =
    'TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 18:17:03.9799600,4808,10\r\n2023-11-16 18:17:04.0319600,3180,8'
  const trace = await readTrace(holding(content), { tokenMs: [0.5, 20] })
  const { atMs, seconds } = trace.recorded as RecordedJobs
  assert.deepEqual([trace.format, trace.dated], ['azure-llm', true])
  assert.ok(Math.abs(atMs[1]! - atMs[0]! - 52) < 0.001)
  assert.ok(Math.abs(atMs[0]! - Date.parse('2023-11-16T18:17:03.979Z') - 0.96) < 0.001)
  assert.deepEqual([...seconds], [2.604, 1.75])
  assert.match(trace.notes[0]!, /0\.5 ms of work for each token of context, 20 ms for each generated/)
})

test('world-cup: counts per minute', async () => {
  const trace = await readTrace(holding('period,count\n1998-05-25 00:00:00,1463\n1998-05-25 00:02:00,0\n'))
  const { kind, atMs, counts, stretchMs } = trace.recorded as RecordedCounts
  assert.deepEqual([trace.format, kind, stretchMs], ['world-cup', 'counts', 60_000])
  assert.deepEqual([...counts], [1463, 0])
  assert.deepEqual([...atMs], [Date.UTC(1998, 4, 25), Date.UTC(1998, 4, 25, 0, 2)])
})

test('columns may come in any order, with others between them', async () => {
  const { atMs, seconds } = await jobsOf('fn,region,duration_ms,t_ms,trigger\n1,north,5,100,http\n')
  assert.deepEqual([atMs[0], seconds[0]], [100, 0.005])
})

test('gzip is recognised under any file name, also in many chunks', async () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i},f,http,${i % 977}`)
  const { seconds } = await jobsOf(gzipSync(`t_ms,fn,trigger,duration_ms\n${rows.join('\n')}\n`))
  assert.equal(seconds.length, 60_000)
  assert.equal(seconds[59_999], (59_999 % 977) / 1000)
})

test('a byte order mark and blank lines are skipped', async () => {
  assert.equal((await jobsOf(`\ufeff${functions}\n\n`)).atMs.length, 3)
})

test('a file that is not a trace is rejected; the error lists the known headers', async () => {
  await refuses(
    'time,size\n1,2\n',
    /line 1 is "time,size", must be the header of a trace: period,count \(world-cup\)/,
  )
  await refuses('', /is empty, must be a trace: period,count/)
  await refuses('\n\n', /is empty/)
  await refuses('period,count\n', /holds no traffic \(nothing follows its header\)/)
  await refuses(Buffer.from([0, 1, 2, 255, 254]), /line 1 is ".*", must be the header/)
})

test('an unreadable file is rejected with the reason', async () => {
  for (const [file, code] of [
    [join(folder, 'missing'), 'ENOENT'],
    [folder, 'EISDIR'],
  ] as const) {
    await assert.rejects(
      readTrace({ option: '--trace', path: file }),
      new ConfigError(`--trace = ${file}: cannot be read (${code})`),
    )
  }
})

test('truncated or damaged gzip is rejected', async () => {
  const whole = gzipSync(functions + '216,7,http,0.2\n'.repeat(100))
  await refuses(
    whole.subarray(0, whole.length - 20),
    /is not a complete gzip file \(unexpected end of file\)/,
  )
  const damaged = Buffer.from(whole)
  damaged.fill(0xff, 20, 40)
  await refuses(damaged, /is not a complete gzip file/)
})

test('a reader that stops early has closed its file, plain or gzipped', async () => {
  const long = `${functions}${'216,7,http,0\n'.repeat(100_000)}`
  for (const content of [long, gzipSync(long, { level: 0 })]) {
    assert.ok(await looksLikeTrace(holding(content)))
    assert.deepEqual(
      openFiles().filter((name) => name === path),
      [],
    )
  }
})

function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`)
    } catch {
      // It was closed meanwhile.
      return []
    }
  })
}

test('a bad line is rejected; the error gives its number, the line and what is allowed', async () => {
  const header = 't_ms,fn,trigger,duration_ms\n1,f,http,1\n'
  await refuses(`${header}2,f,http\n`, 'line 3 is "2,f,http", must be 4 columns: t_ms,fn,trigger,duration_ms')
  await refuses(
    `${header}2,f,http,-1\n`,
    'line 3 is "2,f,http,-1", must be duration_ms with a number, 0 or more',
  )
  await refuses(`${header}2,f,http,\n`, 'must be duration_ms with a number')
  await refuses(`${header}2,f,http,NaN\n`, 'must be duration_ms with a number')
  await refuses(`${header}2,f,http,1e999\n`, 'must be duration_ms with a number')
  await refuses(
    `${header}0.5,f,http,1\n`,
    'line 3 is "0.5,f,http,1", must be no earlier than the line before',
  )
  const minutes = 'period,count\n1998-05-25 00:00:00,1\n'
  await refuses(`${minutes}1998-05-25 00:00:00,1\n`, 'must be a later minute than the line before')
  await refuses(`${minutes}1998-05-25 00:01:00,1.5\n`, 'must be count with a whole number, 0 or more')
  await refuses(`${minutes}1998-02-30 00:00:00,1\n`, 'must be period with a time such as 1998-06-30 14:05:00')
  await refuses(`${minutes}yesterday,1\n`, 'must be period with a time')
})

test('an endless line is rejected before it fills the memory, and shown in part', async () => {
  await refuses(
    Buffer.alloc(40 * 1024 * 1024, 'x'),
    /line 1 is "x{60}…", must be at most 33554432 characters$/,
  )
  await refuses(`period,count\n${'9'.repeat(100_000)}\n`, /line 2 is "9{60}…", must be 2 columns/)
})

test('a named format is enforced, and must be a known one', async () => {
  assert.equal((await jobsOf(functions, { format: 'azure-functions' })).atMs.length, 3)
  await refuses(functions, 'must be a line with the columns period,count (world-cup)', {
    format: 'world-cup',
  })
  await refuses(
    functions,
    '--trace-format = csv: must be one of world-cup, azure-llm, azure-functions, event-log',
    {
      format: 'csv',
    },
  )
})

test('a file of plain numbers does not look like a trace', async () => {
  assert.equal(await looksLikeTrace(holding('# seconds\n1\n2\n')), false)
  assert.equal(await looksLikeTrace(holding(gzipSync(functions))), true)
})
