/** Stories of jobs in virtual time: what happened, with the deciding numbers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unitsPerSecond } from '../simulate/simulate.ts'
import { whyText } from './document.ts'
import { whyFromLog } from './from-log.ts'
import { mostEntries, undisturbedMs } from './story.ts'
import { Scene } from './testing/runs.ts'

/** A long job, three short ones, and one of another workload. */
function preempted(): Scene {
  const scene = new Scene()
  scene.job('report', 100, 1000)
  scene.job('thumb-1', 300, 20)
  scene.job('thumb-2', 310, 30)
  scene.job('picture', 800, 100, { workload: 'julia' })
  scene.run(10_000)
  return scene
}

test('a preempted job: which jobs took its core, what each needed, and when it resumed', () => {
  assert.equal(
    whyText(preempted().why('report')),
    `Job report (sim)
It took 1.15 s for 1 s of work: it was paused twice, 150 ms in all, while 3 jobs that needed less
ran in its place.

    0 ms  Arrived: a sim job, expected to need about 1 s (1 million units of work).
    0 ms  Started on w1-1: a core is free there (0 of 1 busy).
  200 ms  Paused: job thumb-1 preempts it: thumb-1 needs 20 ms, this one another 800 ms.
  250 ms  Resumed after 50 ms, when job thumb-2 finished: a core is free, and it needs another
          800 ms.
  700 ms  Paused: job picture (julia) preempts it: picture needs 100 ms, this one another 350 ms.
  800 ms  Resumed after 100 ms, when job picture (julia) finished: a core is free, and it needs
          another 350 ms.
  1.15 s  Answered after 1.15 s: it did 1 million units of work, as expected.`,
  )
})

test('the document: times add up, and each entry has its code and numbers', () => {
  const why = preempted().why('report')
  const { outcome, responseMs, waitedMs, behindMs, pausedMs, ranMs, lostMs, slowdown, passedBy, measured } =
    why
  assert.deepEqual([outcome, responseMs, slowdown, passedBy], ['result', 1150, 1.15, 3])
  assert.equal(waitedMs + behindMs + pausedMs + ranMs + lostMs, responseMs)
  assert.deepEqual(measured, { work: 1_000_000, timesExpected: 1 })
  assert.deepEqual(
    why.story.map(({ event, afterMs }) => `${event} ${afterMs}`),
    ['arrived 0', 'run 0', 'pause 200', 'resume 250', 'pause 700', 'resume 800', 'answer 1150'],
  )
  const { reason } = why.story[4]!
  assert.deepEqual(reason, {
    ...{ code: 'core-taken', by: 'picture', needMs: 100, leftMs: 350 },
    workload: 'julia',
  })
})

test('a job whose worker is lost: where, when, how much running time was lost, and where it restarted', () => {
  const scene = new Scene({ workers: 2 })
  scene.job('other', 0, 400)
  scene.job('report', 0, 1000)
  scene.job('urgent', 200, 300)
  scene.at(300, () => scene.world.nodes.get('w1-2')!.die())
  scene.run(10_000)
  const { summary, story, attempts, lostMs } = scene.why('report')
  assert.deepEqual([attempts, lostMs], [2, 200])
  const texts = story.map(({ text }) => text)
  assert.equal(
    texts.find((text) => text.startsWith('Attempt')),
    'Attempt 1 on w1-2 failed after 300 ms: the worker was lost (connection closed). ' +
      'It had run for 200 ms, which is lost; the job is retried.',
  )
  assert.match(texts.join('\n'), /Started again \(attempt 2\) on w1-\d/)
  assert.match(summary, /^It took [\d.]+ s for 1 s of work: it waited 100 ms because no job that ran on /)
  assert.match(summary, /lost its first attempt with worker w1-2 after it had run 200 ms\.$/)
})

test('a late job: why it was queued until its deadline passed', () => {
  const scene = new Scene({ fleet: { slots: 2 } })
  scene.job('first', 0, 1500)
  scene.job('second', 5, 1000)
  scene.job('late', 10, 1200, { deadlineAt: 910 })
  scene.run(500)
  assert.equal(
    scene.why('late').summary,
    'It arrived 490 ms ago and waits in the queue: so far it waited 490 ms because no reachable ' +
      'worker had a free slot.',
  )
  scene.run(10_000)
  assert.equal(
    whyText(scene.why('late')),
    `Job late (sim)
It was rejected when its deadline passed, 900 ms after it arrived: it waited 900 ms because no
reachable worker had a free slot, and never started.

    0 ms  Arrived: a sim job, expected to need about 1.2 s (1.2 million units of work). Its deadline
          is in 900 ms.
    0 ms  Waits in the queue: no reachable worker has a free slot.
  900 ms  Rejected: its deadline passed 900 ms after it arrived.`,
  )
})

test('a job that ran when its deadline passed: its running time', () => {
  const scene = new Scene()
  scene.job('slow', 0, 300, { reallyMs: 3000, deadlineAt: 1000 })
  scene.job('quick', 100, 150)
  scene.run(10_000)
  assert.equal(
    scene.why('slow').summary,
    'It was rejected when its deadline passed, 1 s after it arrived: it was paused for 150 ms while 1 job that needed ' +
      'less ran in its place, went first from 625 ms on because of its deadline, and had run 850 ms, where 300 ms were expected.',
  )
})

test('metered work is compared with the quote, without the overhead that ranks the job', () => {
  const quote = {
    work: 1000,
    low: 900,
    high: 1100,
    source: 'memo',
    memoryMb: 1,
    reason: { code: 'same' },
  } as const
  const scene = new Scene({ stories: { known: () => ({ quote }) } })
  scene.job('tiny', 0, 20, { reallyMs: 1, low: 19_900, high: 20_100 })
  scene.run(10_000)
  const { summary, story } = scene.why('tiny')
  assert.doesNotMatch(summary, /expected/)
  assert.match(story[0]!.text, /1,000 units of work; nine of ten such jobs need 900 to 1,100\)/)
  assert.match(story.at(-1)!.text, /it did 1,000 units of work, as expected\.$/)
})

test('a job that outgrows its estimate: when that was noticed, and the new estimate', () => {
  const scene = new Scene()
  scene.job('guess', 0, 100, { reallyMs: 900, low: 80_000, high: 120_000 })
  scene.job('sure', 5, 140)
  scene.run(10_000)
  const { summary, story } = scene.why('guess')
  assert.match(summary, / It needed 9 times the work that was expected\.$/)
  const texts = story.map(({ text }) => text)
  assert.match(
    texts[0]!,
    /\(100 thousand units of work; nine of ten such jobs need 80 thousand to 120 thousand\)\.$/,
  )
  assert.equal(
    texts[2],
    'Estimate raised: it has done 129 ms of work and goes on; the estimate was 115 ms in all and is now 166 ms.',
  )
  assert.equal(
    texts.at(-1),
    'Answered after 1.04 s: it did 900 thousand units of work, 9 times what was expected.',
  )
  assert.match(
    scene.why('sure').summary,
    /waited 150 ms because no job that ran on the only open worker had much more left than its 140 ms/,
  )
})

test('the summary mentions shared cores and waits on a worker', () => {
  const take = (discipline: 'sharing' | 'fifo') => {
    const scene = new Scene({ brain: { scheduler: 'least-connections', discipline } })
    for (const [i, id] of ['a', 'b', 'c'].entries()) scene.job(id, 0, 100 * (i + 1))
    scene.run(10_000)
    return scene.why('b').summary
  }
  assert.equal(
    take('sharing'),
    'It took 500 ms for 200 ms of work: it shared w1-1 with other jobs (1 when it started), which cost it 300 ms.',
  )
  assert.equal(take('fifo'), 'It took 300 ms for 200 ms of work: it waited 100 ms on w1-1 for a core.')
})

test('the summary of a rejected, failed or cancelled job states how it ended', () => {
  const scene = new Scene({ fleet: { slots: 1 }, brain: { limits: { queue: 0 } } })
  scene.job('runs', 0, 1000)
  scene.job('too-many', 10, 1000)
  scene.at(200, () => scene.world.hangUp('runs'))
  scene.at(300, () =>
    scene.world.submit({ id: 'bad', workload: 'sim', work: 50_000, memoryMb: 0 }, 100_000, { fate: 'errs' }),
  )
  scene.run(10_000)
  assert.equal(
    scene.why('too-many').summary,
    'It was rejected after 0 ms (0 jobs are queued, and the limit is 0).',
  )
  assert.equal(
    scene.why('runs').summary,
    'Its client hung up after 200 ms: it had run 200 ms of the 1 s that it was expected to need.',
  )
  assert.equal(
    scene.why('bad').summary,
    'It failed after 50 ms, of which it ran 50 ms (the workload failed: bad input).',
  )
})

test('a resume of zero duration is omitted', () => {
  const scene = new Scene({ fleet: { slots: 2 } })
  scene.job('long', 0, 1000)
  for (let i = 0; i < 5; i++) scene.job(`short-${i}`, 100, 50)
  scene.run(10_000)
  const { story, pauses, passedBy } = scene.why('long')
  assert.deepEqual([pauses, passedBy], [1, 5])
  assert.match(story[3]!.text, /^Resumed after 250 ms, when job short-4 finished/)
})

test('the middle of a very long story is omitted, and its totals still hold', () => {
  const scene = new Scene()
  scene.job('long', 0, 10_000)
  for (let i = 0; i < 300; i++) scene.job(`s${i}`, 10 + i * 20, 1)
  scene.run(100_000)
  const { story, pauses, pausedMs, passedBy } = scene.why('long')
  assert.deepEqual([pauses, pausedMs, passedBy], [300, 300, 300])
  assert.equal(story.length, mostEntries + 1)
  const left = story.findIndex(({ event }) => event === 'left-out')
  assert.equal(left, mostEntries / 2)
  assert.equal(story[left]!.text, '403 lines omitted here.')
  assert.deepEqual([story[0]!.event, story.at(-1)!.event], ['arrived', 'answer'])
})

test('all open jobs and the last finished ones are kept', () => {
  const scene = new Scene({ stories: { finished: 3, pinned: 'j1' } })
  for (let i = 0; i < 10; i++) scene.job(`j${i}`, i * 10, 5)
  scene.job('open', 95, 60_000)
  scene.run(1000)
  assert.deepEqual(scene.stories.count, { open: 1, finished: 3 })
  const known = Array.from({ length: 10 }, (_, i) => `j${i}`).filter((id) => scene.stories.of(id))
  assert.deepEqual(known, ['j1', 'j8', 'j9'])
  assert.equal(scene.why('open').state, 'running')
})

test('a log gives the same story', async () => {
  const scene = preempted()
  const told = await whyFromLog(scene.lines(), 'report')
  assert.deepEqual(told, JSON.parse(JSON.stringify({ ...scene.why('report') })))
  await assert.rejects(whyFromLog(scene.lines(), 'nobody'), {
    code: 'CONFIG',
    message: '--why = nobody: not found in the log, which has 4 jobs, the last one picture',
  })
})

test('a job that went to a function: why, and how it ended', () => {
  const overflow = { concurrency: 1, workPerSecond: unitsPerSecond, coldMs: 100, timeoutMs: 3000 }
  const scene = new Scene({ fleet: { slots: 1 }, brain: { scheduler: 'least-connections', overflow } })
  scene.job('first', 0, 10_000)
  scene.job('away', 100, 1000)
  scene.job('longer', 3000, 1000, { reallyMs: 5000 })
  scene.run(60_000)
  const away = scene.why('away')
  assert.deepEqual([away.worker, away.attempts, away.responseMs], ['function:local', 1, 1100])
  assert.match(
    away.story[1]!.text,
    /^Sent to function:local: the fleet would start it in 5 s, a function finishes it in 1\.1 s, and costs [\d.e-]+ where the time saved is worth [\d.]+\.$/,
  )
  const texts = scene.why('longer').story.map(({ text }) => text)
  assert.match(
    texts.join('\n'),
    /Attempt 1 on function:local failed after 3 s: it reached the time limit of functions/,
  )
  assert.match(texts.join('\n'), /Started again \(attempt 2\) on w1-1/)
})

test('the time of a job from start to answer counts if it did not wait and was not paused', () => {
  const scene = new Scene()
  scene.job('paused', 0, 500)
  scene.job('short', 100, 50)
  scene.job('queued', 110, 5000)
  scene.job('alone', 10_000, 20)
  scene.run(20_000)
  const timeOf = (job: string) => undisturbedMs(scene.stories.of(job)!)
  assert.deepEqual([timeOf('paused'), timeOf('queued')], [undefined, undefined])
  // Messages between brain and worker take time.
  for (const [job, ms] of [
    ['short', 50],
    ['alone', 20],
  ] as const)
    assert.ok(timeOf(job)! >= ms && timeOf(job)! < ms + 10, `${job}: ${timeOf(job)}`)
})
