/** Recorded traffic: traces, event logs and access logs. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { logVersion } from '../../../src/brain/log/log.ts'
import { readLog } from '../../../src/brain/log/read-log.ts'
import { ConfigError } from '../../../src/lib/errors.ts'
import type { Random } from '../../../src/lib/random.ts'
import { readLine } from '../../../src/live/learn/access-log.ts'
import { partOf } from '../../../src/simulate/trace/part.ts'
import { readTrace } from '../../../src/simulate/trace/read.ts'
import { trafficOf } from '../../../src/simulate/trace/traffic.ts'
import { chance, jsonText, listOf, oddNumbers, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

/** The first line of an event log of this version. */
const logHeader = JSON.stringify({ plimsoll: 'event-log', version: logVersion, brain: {} })

const tables = {
  'period,count': (random: Random) =>
    `1998-06-30 ${pick(random, ['10:0', '10:1', '24:0'])}${random.below(10)}:00,${pick(random, oddNumbers)}`,
  'TIMESTAMP,ContextTokens,GeneratedTokens': (random: Random) =>
    `2023-11-16 18:15:4${random.below(10)}.6805900,${random.below(9)},${pick(random, oddNumbers)}`,
  't_ms,fn,trigger,duration_ms': (random: Random) => `${random.below(99)},f,http,${pick(random, oddNumbers)}`,
} as const

const jobs = [
  '"id":"j1"',
  '"id":"j2"',
  '"id":5',
  '"workload":"w"',
  '"work":1',
  '"work":-1',
  '"work":1e999',
  '"memoryMb":1',
  '"high":2',
  '"low":0',
  '"deadlineAt":5',
  '"client":"c"',
]

function eventOf(random: Random): string {
  const job = `{${listOf(random, 9, () => pick(random, jobs)).join(',')}}`
  const worker = `{"id":"w","cores":1,"slots":1,"memoryMb":100,"workPerSecond":${pick(random, ['1', '0', '-1', 'null'])}}`
  const event = pick(random, [
    `{"type":"arrived","job":${job}}`,
    `{"type":"joined","worker":${chance(random, 0.8) ? worker : jsonText(random)}}`,
    `{"type":"finished","job":"j1","work":${pick(random, ['1', '-1', '1e999', 'null', '"a"'])}}`,
    jsonText(random),
  ])
  return `{"at":${pick(random, ['1', '2', '1e12', 'null'])},"event":${event},"actions":${chance(random, 0.9) ? '[]' : jsonText(random)}}`
}

function traceOf(random: Random): Buffer {
  const end = chance(random, 0.9) ? '\n' : pick(random, ['\r\n', '\r', '\n\n', ''])
  const header = pick(random, [...Object.keys(tables), 'log', 'log'])
  const lines =
    header === 'log'
      ? [logHeader, ...listOf(random, 12, () => eventOf(random))]
      : [header, ...listOf(random, 12, () => tables[header as keyof typeof tables](random)).toSorted()]
  const text = Buffer.from(lines.join(end) + end)
  return chance(random, 0.1) ? gzipSync(text) : text
}

export const trace: Target = {
  name: 'trace',
  about: 'traces in every format, plain and gzipped, and the traffic made of them',
  maxBytes: 16 * 1024,
  cpuMs: 2_000,
  words: [
    ',',
    '\n',
    '\r\n',
    ...Object.keys(tables),
    '1998-06-30 10:00:00',
    '1e999',
    'NaN',
    '-1',
    '"at":',
    '"event":',
    '\x1f\x8b\x08',
    '{}',
    'null',
  ],
  generate: traceOf,
  declared: errorsOf(ConfigError),
  open() {
    const folder = mkdtempSync(join(tmpdir(), 'plimsoll-fuzz-trace-'))
    const path = join(folder, 'trace')
    return {
      async run(input) {
        writeFileSync(path, input)
        const read = await readTrace({ option: '--trace', path })
        const { atMs } = read.recorded
        for (let i = 1; i < atMs.length; i++) holds(atMs[i]! >= atMs[i - 1]!, 'times go back')
        const sizes = { name: 'x', meanSeconds: 1, draw: () => 1 }
        const { load } = trafficOf(partOf(read, { from: '0' }), { cores: 2, sizes })
        holds(!(load < 0), `load ${load}`)
        return read.format
      },
      close: () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

export const eventLog: Target = {
  name: 'event-log',
  about: 'event logs, line by line',
  maxBytes: 16 * 1024,
  cpuMs: 1_000,
  words: [
    '\n',
    '"plimsoll":"event-log"',
    '"version":4',
    '"brain":{}',
    '"at":1',
    '"event":',
    '"actions":[]',
    'null',
    '1e999',
  ],
  generate: (random) => Buffer.from([logHeader, ...listOf(random, 12, () => eventOf(random))].join('\n')),
  declared: errorsOf(ConfigError),
  open: () => ({
    async run(input) {
      let entries = 0
      await readLog(input.toString('utf8').split('\n'), () => ++entries > 0)
      return `${Math.min(4, entries)} entries`
    },
  }),
}

const logParts = [
  '1.2.3.4 - - ',
  '[18/Nov/2026:09:03:58 +0000] ',
  '"GET /a?n=1 HTTP/1.1" ',
  '200 ',
  '12 ',
  '"-" "curl" ',
  'rt=0.5',
  ' 0.5',
]

export const accessLog: Target = {
  name: 'access-log',
  about: 'lines of access logs',
  weight: 2,
  maxBytes: 32 * 1024,
  cpuMs: 1_000,
  words: [
    ...logParts,
    '[',
    ']',
    '"',
    ' ',
    '-',
    'request_time=',
    '1 1 1 1 ',
    '[[[[[[[[',
    '] "',
    '99/Xyz/2026:25:61:61 +9999',
  ],
  generate: (random) =>
    Buffer.from(
      logParts.map((part) => (chance(random, 0.95) ? part : textOf(random))).join('') +
        pick(random, ['', ' 1.5', ' -', '\n']),
    ),
  declared: errorsOf(),
  open: () => ({
    run(input) {
      const read = readLine(input.toString('utf8'), 's')
      if (typeof read === 'string') return read.replace(/\[.*\]/s, '[]')
      holds(read.tookMs >= 0 && read.endedAt >= 0, 'a negative time')
      holds(read.status >= 0 && read.status <= 999, `status ${read.status}`)
      return 'read'
    },
  }),
}
