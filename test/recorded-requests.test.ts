/** The recorded requests of simulations cost what the workloads cost now. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { recordedPresets, recorderOf } from '../bench/requests/record.ts'
import { readRecording, recordingOf, recordingText } from '../src/simulate/recorded/recording.ts'

/** How many requests of each recording run again. They are the cheapest of its first requests. */
const [sampled, among] = [3, 20]

for (const preset of recordedPresets)
  describe(`recorded requests of ${preset}`, () => {
    test('cost exactly what was recorded; otherwise run `npm run -s requests`', async (t) => {
      const recorder = await recorderOf(preset)
      t.after(() => recorder.close())
      for (const name of recorder.workloads) {
        const { requests, ...facts } = recordingOf(name)
        assert.deepEqual([facts.workload, facts.preset], [name, preset])
        // What a purchase costs depends on those before it.
        const first = name === 'shop' ? sampled : among
        const numbers = [...requests.slice(0, first).entries()]
          .sort(([, a], [, b]) => a.work - b.work)
          .slice(0, sampled)
          .map(([number]) => number)
          .sort((a, b) => a - b)
        const again = readRecording(recordingText({ ...facts, requests: await recorder.run(name, numbers) }))
        assert.deepEqual(
          again.requests,
          numbers.map((number) => requests[number]),
          `the code of ${name} has changed: record it again with npm run -s requests -- ${name}`,
        )
      }
    })
  })
