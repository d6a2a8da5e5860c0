import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explain } from '../../story/reasons.ts'
import { only, sent, Trial } from '../testing/trial.ts'

/** Workers that have reported at time 0; a heartbeat is due every second, and three may be missed. */
function fleetOf(...ids: string[]): Trial {
  const limits = { beatMs: 1000, missedBeats: 3, silentLosses: { share: 0.5, patience: 3 } }
  const trial = new Trial({ limits })
  for (const id of ids) {
    trial.joins(id)
    trial.reports(id)
  }
  return trial
}

/** Lets time pass in steps of a second, in which these workers report; returns the workers lost, with the times. */
function pass(trial: Trial, untilMs: number, ...reporting: string[]): string[] {
  const lost: string[] = []
  while (trial.now < untilMs) {
    trial.after(1000)
    for (const id of reporting) trial.reports(id)
    for (const { worker } of only(trial.tick(), 'terminate')) lost.push(`${worker} ${trial.now}`)
  }
  return lost
}

test('half of the workers may be lost at once, as soon as they have missed their heartbeats', () => {
  const trial = fleetOf('a', 'b', 'c', 'd')
  assert.deepEqual(pass(trial, 20_000, 'a', 'b'), ['c 3000', 'd 3000'])
})

test('if more than half are silent at once, none is lost, and none gets jobs', () => {
  const trial = fleetOf('a', 'b', 'c')
  assert.deepEqual(pass(trial, 8000, 'a'), [])
  const [held] = only(trial.history, 'hold')
  assert.equal(held?.worker, 'b')
  assert.match(
    explain(held.reason),
    /^it has sent no heartbeat for 3 s, but 2 of 3 workers are silent at once, more than 50 %/,
  )
  assert.equal(only(trial.history, 'hold').length, 2, 'told once for each worker')
  const views = trial.view.workers
  assert.deepEqual(
    views.map(({ id, suspect, notice }) => [id, suspect, notice?.code]),
    [
      ['a', false, undefined],
      ['b', true, 'kept-silent'],
      ['c', true, 'kept-silent'],
    ],
  )
  for (const job of ['j1', 'j2', 'j3']) assert.deepEqual(sent(trial.arrives(job)), [`${job} a`])
})

test('a silent worker that reports again gets jobs again', () => {
  const trial = fleetOf('a')
  assert.deepEqual(pass(trial, 8000), [])
  assert.deepEqual(sent(trial.arrives('j')), [])
  assert.deepEqual(sent(trial.reports('a')), ['j a'])
  assert.equal(trial.view.workers[0]!.notice, undefined)
  assert.deepEqual(pass(trial, 11_000), [])
})

test('the only worker is lost after three times the usual silence', () => {
  assert.deepEqual(pass(fleetOf('a'), 20_000), ['a 9000'])
})

test('a fleet that stays silent is lost half of it at a time', () => {
  assert.deepEqual(pass(fleetOf('a', 'b', 'c', 'd'), 30_000), ['a 9000', 'b 9000', 'c 12000', 'd 15000'])
})

test('positive evidence needs no patience: a closed connection, a failed attempt, the end of the process', () => {
  const trial = fleetOf('a', 'b', 'c')
  trial.tell({ type: 'disconnected', worker: 'a' })
  for (const job of ['j', 'k']) trial.arrives(job)
  assert.equal(trial.at('k').worker, 'b')
  trial.fails('k', 'unreachable')
  assert.deepEqual(pass(trial, 8000), ['a 3000', 'b 3000'])
  assert.equal(only(trial.tell({ type: 'lost', worker: 'c' }), 'terminate').length, 1)
})

test('a worker that reconnects must be judged by its silence again', () => {
  const trial = fleetOf('a')
  trial.tell({ type: 'disconnected', worker: 'a' })
  trial.joins('a')
  assert.deepEqual(pass(trial, 8000), [])
})

test('without the rule all may be lost at once', () => {
  const trial = new Trial({ limits: { beatMs: 1000, missedBeats: 3 } })
  for (const id of ['a', 'b']) {
    trial.joins(id)
    trial.reports(id)
  }
  assert.deepEqual(pass(trial, 3000), ['a 3000', 'b 3000'])
})

test('a loss that is certain is a loss under pings, too', () => {
  const pings = { everyMs: 30_000, answerMs: 3000, most: 3, mostFresh: 5 }
  const trial = new Trial({ limits: { pings, beatMs: 1000 } })
  trial.joins('a')
  assert.equal(only(trial.tell({ type: 'lost', worker: 'a', certain: true }), 'terminate').length, 1)
})
