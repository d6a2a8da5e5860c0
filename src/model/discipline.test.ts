import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DisciplineName, disciplines, rankOf } from './discipline.ts'

// A fixed seed: the same cases in every run.
fc.configureGlobal({ seed: 1 })

interface Held {
  name: string
  rank: number
  running: boolean
  preemptible: boolean
  sharesUntil: number
  waiting: boolean
}

const held = (name: string, rank: number, more: Partial<Held> = {}): Held => ({
  name,
  rank,
  running: false,
  preemptible: true,
  sharesUntil: 0,
  waiting: false,
  ...more,
})
const chosen = (discipline: DisciplineName, jobs: Held[], cores: number) =>
  disciplines[discipline].choose(jobs, cores).map((job) => job.name)

test('sharing runs all jobs', () => {
  assert.deepEqual(chosen('sharing', [held('a', 3), held('b', 1), held('c', 2)], 1), ['a', 'b', 'c'])
})

test('fifo runs the oldest jobs, whatever their size', () => {
  assert.deepEqual(chosen('fifo', [held('a', 9), held('b', 5), held('c', 1)], 2), ['a', 'b'])
})

test('srpt runs the jobs with the least remaining work', () => {
  assert.deepEqual(chosen('srpt', [held('a', 9), held('b', 5), held('c', 1)], 2).toSorted(), ['b', 'c'])
})

test('srpt runs all jobs if there are enough cores', () => {
  assert.deepEqual(chosen('srpt', [held('a', 9), held('b', 5)], 2), ['a', 'b'])
})

test('srpt never pauses a job that is not preemptible', () => {
  const jobs = [held('long', 99, { running: true, preemptible: false }), held('b', 1), held('c', 2)]
  assert.deepEqual(chosen('srpt', jobs, 1), ['long'])
  assert.deepEqual(chosen('srpt', jobs, 2).toSorted(), ['b', 'long'])
})

test('srpt gives a non-preemptible job no priority before it runs', () => {
  assert.deepEqual(chosen('srpt', [held('long', 99, { preemptible: false }), held('b', 1)], 1), ['b'])
})

test('srpt breaks ties in favour of the running job, then the oldest', () => {
  assert.deepEqual(chosen('srpt', [held('a', 5), held('b', 5, { running: true })], 1), ['b'])
  assert.deepEqual(chosen('srpt', [held('a', 5), held('b', 5)], 1), ['a'])
})

test('srpt runs every job that is not ranked yet beside the ranked ones it chooses', () => {
  const jobs = [held('new', 9, { sharesUntil: 5 }), held('long', 5), held('short', 1)]
  assert.deepEqual(chosen('srpt', jobs, 1).toSorted(), ['new', 'short'])
  assert.deepEqual(chosen('srpt', [...jobs, held('newer', 8, { sharesUntil: 5 })], 1).toSorted(), [
    'new',
    'newer',
    'short',
  ])
})

test('srpt ranks all jobs of a client that has exceeded its share', () => {
  const rank = rankOf({ tier: 1, until: 0, due: 0 }, 0, 1)
  assert.deepEqual(chosen('srpt', [held('greedy', rank, { sharesUntil: 5 }), held('b', 5)], 1), ['b'])
})

const anyJobs = fc.array(
  fc.record({
    name: fc.string(),
    rank: fc.nat(5),
    running: fc.boolean(),
    preemptible: fc.boolean(),
    sharesUntil: fc.constant(0),
    waiting: fc.constant(false),
  }),
  { maxLength: 12 },
)

test('bounded disciplines keep every core busy and never run more jobs than cores', () => {
  fc.assert(
    fc.property(anyJobs, fc.integer({ min: 1, max: 6 }), (jobs, cores) => {
      // A worker never runs more jobs than it has cores, so neither may the initial state.
      let running = 0
      for (const job of jobs) job.running = job.running && ++running <= cores
      for (const name of ['fifo', 'srpt'] as const) {
        const picked = disciplines[name].choose(jobs, cores)
        assert.equal(picked.length, Math.min(jobs.length, cores))
        assert.equal(new Set(picked).size, picked.length)
      }
    }),
  )
})

test('srpt runs no preemptible job while one with less remaining work is paused', () => {
  fc.assert(
    fc.property(anyJobs, fc.integer({ min: 1, max: 6 }), (jobs, cores) => {
      let running = 0
      for (const job of jobs) job.running = job.running && ++running <= cores
      const picked = disciplines.srpt.choose(jobs, cores)
      const paused = jobs.filter((job) => !picked.includes(job))
      for (const job of picked) {
        if (job.running && !job.preemptible) continue
        for (const other of paused) assert.ok(job.rank <= other.rank)
      }
    }),
  )
})
