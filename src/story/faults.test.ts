/** With any faults, every job has a complete story whose times add up. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { share } from '../../test/support/thorough.ts'
import { decodeEntry } from '../brain/log/log.ts'
import { chaos } from '../simulate/chaos.ts'
import { type SchedulerName, schedulers } from '../systems/schedulers.ts'
import { whyDocument, whyText } from './document.ts'
import { Stories } from './stories.ts'
import { mostEntries } from './story.ts'

for (const policy of Object.keys(schedulers) as SchedulerName[]) {
  test(`${policy}: with faults, all stories end and their times add up`, () => {
    for (let seed = 1; seed <= share(15); seed++) {
      const chunks: Buffer[] = []
      const { jobs } = chaos(policy, seed, { log: (chunk) => void chunks.push(Buffer.from(chunk)) })
      const [, ...lines] = Buffer.concat(chunks).toString().trimEnd().split('\n')
      const stories = new Stories()
      const ids: string[] = []
      for (const [i, line] of lines.entries()) {
        const { at, event, actions } = decodeEntry(line, i + 2)
        stories.observe(event, actions, at)
        if (event.type === 'arrived') ids.push(event.job.id)
      }
      assert.deepEqual(stories.count, { open: 0, finished: jobs })
      for (const id of ids) {
        const why = whyDocument(stories.of(id)!, { bounded: true, now: 0 })
        const total = why.waitedMs + why.behindMs + why.pausedMs + why.ranMs + why.lostMs
        assert.ok(
          Math.abs(total - why.responseMs) < 0.01,
          `seed ${seed}, ${id}: ${total} of ${why.responseMs} ms`,
        )
        assert.ok(why.outcome && why.passedBy >= 0 && why.pauses >= 0 && why.story.length <= mostEntries + 1)
        assert.ok(
          why.pausedMs === 0 || why.passedBy >= 1,
          `seed ${seed}, ${id}: paused, but no job ran in its place`,
        )
        assert.doesNotMatch(whyText(why), /undefined|NaN|null|unknown time|\{| -\d/, `seed ${seed}, ${id}`)
      }
    }
  })
}
