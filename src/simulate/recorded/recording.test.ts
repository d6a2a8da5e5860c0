import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Recording, readRecording, recordingText } from './recording.ts'

const facts = { workload: 'made-up', preset: 'cnv', seed: 1, code: 'abc' }

test('a recording is read as it was written, with parameters that only some requests have', () => {
  const recording: Recording = {
    ...facts,
    requests: [
      { params: { n: '12' }, features: { digits: 2, isEven: true }, work: 10 },
      { params: { n: '7', seed: 3 }, features: { digits: 1 }, work: 4 },
    ],
  }
  const text = recordingText(recording)
  assert.deepEqual(readRecording(text), recording)
  assert.equal(recordingText(readRecording(text)), text)
})

test('with quantities, work is their sum', () => {
  const quantities = { instCount: 5.5, totalAccesses: 2 }
  const text = recordingText({
    ...facts,
    requests: [{ params: {}, features: { size: 1 }, work: 8, quantities }],
  })
  const [request] = readRecording(text).requests
  assert.deepEqual(request, { params: {}, features: { size: 1 }, work: 7.5, quantities })
})

test('a recording of another version is rejected', () => {
  const text = recordingText({ ...facts, requests: [] }).replace('"version":1', '"version":2')
  assert.throws(() => readRecording(text), /recording of made-up: version 2, not 1/)
})
