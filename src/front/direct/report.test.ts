import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { DirectReport, DirectRow } from '../../wire/direct.ts'
import { DirectReports } from './report.ts'

function reporting(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sent: DirectReport[] = []
  const link = { up: true }
  const reports = new DirectReports({ isUp: () => link.up, send: (report) => void sent.push(report) })
  return { reports, sent, link, tick: () => t.mock.timers.tick(100) }
}

const row = (name: string, job: string) => ({ name, job }) as DirectRow

test('counts are collected by route and worker, and sent once', (t) => {
  const { reports, sent, tick } = reporting(t)
  tick()
  reports.answered('r', 'w', 100, 2)
  reports.answered('r', 'w', 50, 1)
  reports.givenBack('r', 'w')
  reports.lasts('s', 'w', 1500)
  assert.deepEqual(sent, [])
  tick()
  tick()
  const empty = { worker: 'w', answered: 0, givenBack: 0, work: 0, totalMs: 0, longestMs: 0 }
  assert.deepEqual(sent, [
    {
      counts: [
        { ...empty, name: 'r', answered: 2, givenBack: 1, work: 150, totalMs: 3, longestMs: 2 },
        { ...empty, name: 's', longestMs: 1500 },
      ],
      rows: [],
    },
  ])
})

test('two rows of each route are sampled for a report', (t) => {
  const { reports, sent, tick } = reporting(t)
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 25; i++) {
      reports.answered('r', 'w', 1, 1)
      if (reports.samples('r')) reports.row(row('r', `${i}`))
    }
    assert.equal(reports.samples('s'), true)
    tick()
  }
  assert.deepEqual(
    sent.map(({ rows }) => rows.length),
    [2, 2],
  )
})

test('while the brain is unreachable, counts are kept and rows stay few', (t) => {
  const { reports, sent, link, tick } = reporting(t)
  link.up = false
  for (let round = 0; round < 50; round++) {
    reports.answered('r', 'w', 1, 1)
    if (reports.samples('r')) reports.row(row('r', `${round}`))
    tick()
  }
  assert.equal(sent.length, 0)
  link.up = true
  tick()
  assert.deepEqual([sent.length, sent[0]?.counts[0]?.answered, sent[0]?.rows.length], [1, 50, 2])
})

test('the last report is sent at once, and nothing after the end', (t) => {
  const { reports, sent, link, tick } = reporting(t)
  reports.answered('r', 'w', 1, 1)
  reports.flush()
  assert.equal(sent.length, 1)
  link.up = false
  reports.answered('r', 'w', 1, 1)
  reports.flush()
  reports.close()
  link.up = true
  tick()
  assert.equal(sent.length, 1)
})
