import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Trial } from '../brain/testing/trial.ts'
import type { Event } from '../model/event.ts'
import { FleetStory, sizeText } from './fleet-story.ts'

/** A brain whose fleet history is recorded. */
function recorded(min: number, max: number, most?: number) {
  const trial = new Trial({ scale: { min, max }, limits: { bootMs: 60_000, listMs: 1000, backoffMs: 100 } })
  const story = new FleetStory(most)
  const tell = (event: Event) => story.observe(event, trial.tell(event), trial.now)
  const joins = (id: string, launch?: string) => {
    const worker = { id, cores: 1, workPerSecond: 1000, memoryMb: 1000, slots: 10 }
    tell({ type: 'joined', worker, seq: 1, held: [], ...(launch !== undefined && { launch }) })
  }
  const lines = () => story.steps().map((step) => `${step.at} [${sizeText(step)}] ${step.text}`)
  return { trial, tell, joins, lines, story }
}

test('each step has its reason and the resulting fleet size', () => {
  const { trial, tell, joins, lines } = recorded(2, 2)
  tell({ type: 'tick' })
  trial.after(1500)
  joins('a', '1-1')
  trial.after(500)
  joins('b', '1-2')
  trial.after(1000)
  tell({ type: 'lost', worker: 'a', message: 'killed by SIGKILL' })
  trial.after(10)
  tell({ type: 'launch-failed', launch: '1-3', message: 'no capacity' })
  trial.after(90)
  tell({ type: 'drain', worker: 'b', by: 'worker' })
  assert.deepEqual(lines(), [
    '0 [0 ready, 2 booting] 2 workers launched: 0 workers, and the minimum is 2',
    '1500 [1 ready, 1 booting] a joined, 1.5 s after its launch',
    '2000 [2 ready] b joined, 2 s after its launch',
    '3000 [1 ready] a lost: killed by SIGKILL',
    '3000 [1 ready, 1 booting] 1 worker launched: 1 worker, and the minimum is 2',
    '3010 [1 ready] w3 did not start: the launch failed: no capacity',
    '3100 [0 ready, 1 draining] b draining: it was told to end',
    '3100 [0 ready] b ended after draining',
  ])
})

test('the boot time of a spare worker counts from its own start', () => {
  const { trial, tell, lines } = recorded(1, 1)
  tell({ type: 'tick' })
  trial.after(1)
  const worker = { id: 'a', cores: 1, workPerSecond: 1000, memoryMb: 1000, slots: 10 }
  tell({ type: 'joined', worker, seq: 1, held: [], launch: '1-1', bootMs: 700 })
  assert.equal(lines().at(-1), '1 [1 ready] a joined, 700 ms after its launch')
})

test('unknown machines and rejected workers do not count', () => {
  const { trial, tell, joins, lines } = recorded(0, 5)
  joins('by-hand')
  joins('late', '0-1')
  joins('by-hand')
  for (const askedAt of [1000, 2000]) {
    trial.after(1000)
    tell({ type: 'listed', launches: ['0-7'], askedAt })
  }
  assert.deepEqual(lines(), [
    '0 [1 ready] by-hand joined',
    '2000 [1 ready] machine of launch 0-7 ended: the provider has listed it for 1 s, and the cluster does not know it',
  ])
})

test('only the last steps are kept', () => {
  const { trial, joins, lines } = recorded(0, 100, 3)
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    trial.after(1)
    joins(id)
  }
  assert.deepEqual(lines(), ['3 [3 ready] c joined', '4 [4 ready] d joined', '5 [5 ready] e joined'])
})
