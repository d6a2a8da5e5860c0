/** Stories of jobs that went first because of their wait or deadline, and of jobs that could not meet it. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyText } from './document.ts'
import { Scene, taking } from './testing/runs.ts'

test('a job near its deadline: that it went first, and whose core it took', () => {
  const scene = new Scene()
  scene.job('report', 0, 1000)
  scene.job('bill', 100, 2000, { deadlineAt: 3000 })
  scene.run(10_000)
  assert.equal(
    whyText(scene.why('bill')),
    `Job bill (sim)
It took 2.4 s for 2 s of work: it waited 400 ms because no job that ran on the only open worker had
much more left than its 2 s, and went first from 400 ms on because of its deadline.

    0 ms  Arrived: a sim job, expected to need about 2 s (2 million units of work). Its deadline is
          in 2.9 s.
    0 ms  Waits in the queue: no core is free, and no running job on the only open worker has much
          more left than the 2 s that it needs.
  400 ms  Started on w1-1 after 400 ms in the queue: its deadline is in 2.5 s, and it must run now
          to meet it; it preempts job report, which needs another 500 ms.
   2.4 s  Answered after 2.4 s: it did 2 million units of work, as expected.`,
  )
  assert.match(
    scene.why('report').story[2]!.text,
    /^Paused: job bill preempts it because that one goes first: bill needs 2 s, this one another 500 ms\.$/,
  )
})

test('a job with a far too high estimate: when it got its turn, and why', () => {
  const scene = new Scene({ brain: { limits: { mostSlowdown: 10 } } })
  scene.job('first', 0, 10_000, { reallyMs: 300 })
  for (let i = 0; i < 100; i++) scene.job(`s${i}`, 200 + i * 20, 20)
  scene.run(10_000)
  const { summary, story, turns } = scene.why('first')
  assert.equal(turns, 1)
  assert.match(
    summary,
    /^It took [\d.]+ s for 300 ms of work: it was paused \w+.*, and was given a turn before shorter jobs because of its long wait\./,
  )
  const at = story.findIndex(({ event }) => event === 'rank')
  assert.equal(
    story[at]!.text,
    'Goes first from now on: it arrived 2.1 s ago and has run for 200 ms, so it gets a turn.',
  )
  assert.match(
    story[at + 1]!.text,
    /^Resumed after 1\.9 s: it goes first now, and it needs another 9\.8 s\.$/,
  )
})

test('a job that cannot meet its deadline is rejected at once, with the numbers', () => {
  const scene = new Scene()
  scene.job('hopeless', 0, 3000, { low: taking(2000), deadlineAt: 1000 })
  scene.job('bill', 10, 1000, { low: taking(900), deadlineAt: 1500 })
  scene.job('tax', 20, 1000, { low: taking(900), deadlineAt: 1600 })
  scene.run(10_000)
  const rejected = (job: string) => scene.why(job).story.at(-1)!.text
  assert.equal(
    rejected('hopeless'),
    'Rejected: nearly all such jobs need more than 2 s, and its deadline is in 1 s.',
  )
  assert.equal(
    rejected('tax'),
    'Rejected: it needs at least 900 ms, with the jobs of earlier deadlines at least 1.79 s of all workers, ' +
      'and its deadline is in 1.58 s.',
  )
})
