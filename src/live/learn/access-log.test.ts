import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLine } from './access-log.ts'

const line = (end: string, request = 'GET /julia?width=8 HTTP/1.1') =>
  `203.0.113.7 - anna [18/Nov/2026:09:03:58 +0100] "${request}" 200 512${end}`

test('the request time is the last number of a line', () => {
  assert.deepEqual(readLine(line(' "-" "curl/8 (x 12)" 0.123'), 's'), {
    method: 'GET',
    target: '/julia?width=8',
    status: 200,
    endedAt: Date.UTC(2026, 10, 18, 8, 3, 58),
    tookMs: 123,
  })
})

test('a named request time is found anywhere behind the status', () => {
  for (const end of [' "-" "curl" rt=0.250 uct="0.001"', ' "-" "curl" request_time=0.25 up=7']) {
    const read = readLine(line(end), 's')
    assert.ok(typeof read === 'object' && read.tookMs === 250, end)
  }
})

test('times may be in other units', () => {
  const tookMs = (unit: 's' | 'ms' | 'us') => {
    const read = readLine(line(' "-" "-" 1500'), unit)
    return typeof read === 'object' ? read.tookMs : read
  }
  assert.deepEqual([tookMs('s'), tookMs('ms'), tookMs('us')], [1_500_000, 1500, 1.5])
})

test('a long line of brackets is not searched again from each of them', () => {
  // Each search to the end of the line would make this take an hour.
  assert.match(
    String(readLine(`1.2.3.4 - - ${'['.repeat(2_000_000)}`, 's')),
    /not in the combined log format/,
  )
})

test('the error of a line names what is wrong', () => {
  assert.match(String(readLine('', 's')), /not in the combined log format/)
  assert.match(String(readLine('{"method":"GET"}', 's')), /not in the combined log format/)
  assert.match(String(readLine(line(' "-" "curl/8"'), 's')), /no request time.*\$request_time/)
  assert.match(String(readLine(line(' 0.1').replace('Nov', 'Foo'), 's')), /time \[18\/Foo.*cannot be read/)
})
