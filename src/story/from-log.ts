/** Reads the story of one job from an event log, live or simulated. */

import { readLog } from '../brain/log/read-log.ts'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { disciplines } from '../model/discipline.ts'
import { loggedBrain } from '../systems/brain-spec.ts'
import { type WhyDocument, whyDocument } from './document.ts'
import { Stories } from './stories.ts'

/** Rejects with a `ConfigError` if the log has no such job. */
export async function whyFromLog(
  lines: AsyncIterable<string> | Iterable<string>,
  job: string,
): Promise<WhyDocument> {
  const stories = new Stories({ pinned: job })
  let now = 0
  let jobs = 0
  let last = ''
  const header = await readLog(lines, ({ at, event, actions }) => {
    now = at
    if (event.type === 'arrived') {
      jobs++
      last = event.job.id
    }
    stories.observe(event, actions, at)
    return true
  })
  const story = stories.of(job)
  if (!story) {
    const some = jobs > 0 ? `${jobs.toLocaleString('en-US')} jobs, the last one ${last}` : 'no jobs'
    throw new ConfigError(`--why = ${job}: not found in the log, which has ${some}`)
  }
  return whyDocument(story, {
    bounded: oneOf('discipline', loggedBrain(header).discipline, disciplines).bounded,
    now,
  })
}
