import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linearAxis, logAxis, percent, plain, powerOfTen, time, timeAxis, wholeDecades } from './axis.ts'
import { lines, plot, sample } from './chart.ts'
import { lookOf } from './colours.ts'
import { escaped, page, tableOf } from './page.ts'

const labels = ({ ticks }: { ticks: readonly { label: string }[] }) => ticks.map(({ label }) => label)

test('linear steps are round numbers and reach at least the highest value', () => {
  assert.deepEqual(labels(linearAxis('jobs', 0, 1318)), ['0', '500', '1,000', '1,500'])
  assert.deepEqual(
    labels(linearAxis('share', 0, 1, percent)),
    ['0 %', '20 %', '40 %', '60 %', '80 %', '100 %'].map((label) => label.replace(' ', '\u00a0')),
  )
  assert.deepEqual(labels(linearAxis('nothing', 0, 0)).at(0), '0')
  assert.equal(linearAxis('x', 0, 10).part(5), 0.5)
})

test('log axes mark decades, and values between them if decades are few', () => {
  assert.deepEqual(labels(logAxis('', 1, 10_000, time)), ['1 ms', '10 ms', '100 ms', '1 s', '10 s'])
  assert.deepEqual(labels(logAxis('', 1, 10, plain)), ['1', '2', '5', '10'])
  assert.deepEqual(labels(logAxis('', 1e-3, 1e9, powerOfTen)).filter(Boolean), [
    '10⁻²',
    '10⁰',
    '10²',
    '10⁴',
    '10⁶',
    '10⁸',
  ])
  assert.equal(logAxis('', 1, 100, plain).part(10), 0.5)
})

test('values outside an axis, such as 0 on a log axis, are clamped', () => {
  const axis = logAxis('', 1, 100, plain)
  assert.deepEqual([axis.part(0), axis.part(0.1), axis.part(1e9)], [0, 0, 1])
})

test('a time axis chooses its unit by its length', () => {
  assert.equal(timeAxis('since noon', 86_400_000).title, 'hours since noon')
  assert.deepEqual(labels(timeAxis('', 86_400_000)).slice(0, 3), ['0', '2', '4'])
  for (const [ms, unit] of [
    [8 * 86_400_000, 'days'],
    [600_000, 'minutes'],
    [30_000, 'seconds'],
    [200, 'milliseconds'],
  ] as const) {
    const axis = timeAxis('', ms)
    assert.ok(axis.title.startsWith(unit))
    assert.ok(axis.ticks.length >= 3 && axis.ticks.length <= 14, `${ms}: ${axis.ticks.length}`)
  }
})

test('whole decades enclose all values and span at least one decade', () => {
  assert.deepEqual(wholeDecades(2, 30), [1, 100])
  assert.deepEqual(wholeDecades(1, 1), [1, 10])
  assert.deepEqual(wholeDecades(0.001, 1), [0.001, 1])
})

test('fourteen lines look different from each other', () => {
  const looks = Array.from({ length: 14 }, (_, i) => JSON.stringify(lookOf(i)))
  assert.equal(new Set(looks).size, 14)
})

test('text is escaped everywhere', () => {
  const nasty = '<script>alert("&")</script>'
  assert.equal(escaped(nasty), '&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;')
  const axis = linearAxis(nasty, 0, 1)
  const picture = plot({ x: axis, y: axis, label: nasty }, () => '')
  const html = page({ title: nasty, body: picture + tableOf([nasty], [[nasty]]) })
  assert.equal(html.includes('<script'), false)
})

test('a page fetches nothing', () => {
  const axis = linearAxis('x', 0, 1)
  const line = {
    colour: '#000',
    points: [
      [0, 0],
      [1, 1],
    ] as const,
  }
  const html = page({
    title: 't',
    body: plot({ x: axis, y: axis, label: 'l' }, (at) => lines(at, [line])) + sample(line),
  })
  assert.doesNotMatch(html, /https?:|url\(|src=|href=|@import/)
})

test('coinciding points are merged, steps have corners, and a line without points is omitted', () => {
  const axis = linearAxis('x', 0, 1)
  const drawn = (points: [number, number][], steps = false) =>
    plot({ x: axis, y: axis, label: '' }, (at) => lines(at, [{ colour: '#000', points, steps }]))
  const many = Array.from({ length: 10_000 }, (_, i): [number, number] => [i / 1e9, 0.5])
  assert.match(drawn(many), /stroke="#000" d="M\S+ \S+"/)
  assert.match(
    drawn(
      [
        [0, 0],
        [1, 1],
      ],
      true,
    ),
    /stroke="#000" d="M\S+ \S+H\S+V\S+"/,
  )
  assert.doesNotMatch(drawn([]), /#000/)
})
