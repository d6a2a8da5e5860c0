/** Runs groups of one checkout on request of main.ts. Arguments: the checkout, and `renames` if it has the old names. */

import { openCheckout } from './checkout.ts'
import { collect, countLines, digest, mapLines } from './log.ts'
import { normalise } from './normalise.ts'
import { type Group, nameOf, plan } from './plan.ts'
import { noRenames, renames } from './renames.ts'

/** Asks for runs of one group. */
export interface Question {
  group: string
  seeds: readonly number[]
  withHeader: boolean
  /** Compare parsed lines, the old side's with the new names. */
  normalised: boolean
  /** Return the log itself too, always with its header line, which may be empty. */
  withText: boolean
}

export interface Run {
  seed: number
  entries: number
  bytes: number
  hash: string
  text?: string
  /** The run failed. Its other fields are then empty. */
  error?: string
}

export type GroupName = Pick<Group, 'kind' | 'policy' | 'faults'> & { name: string }

const [root, hasOldNames] = process.argv.slice(2)
const names = hasOldNames === 'renames' ? renames : noRenames
const groups = plan(await openCheckout(root!, names.settings))

function run(group: Group, seed: number, { withHeader, normalised, withText }: Question): Run {
  try {
    const raw = collect((log) => group.run(seed, log))
    const [entries, bytes] = [countLines(raw.entries), raw.entries.length]
    if (entries === 0) throw new Error('the run wrote no log')
    const log = normalised ? mapLines(raw, (line) => normalise(line, names)) : raw
    const text = withText ? { text: `${log.header || '\n'}${log.entries}` } : {}
    return { seed, entries, bytes, hash: digest(log, withHeader), ...text }
  } catch (error) {
    return { seed, entries: 0, bytes: 0, hash: '', error: String(error) }
  }
}

process.on('message', (question: Question) => {
  const group = groups.find((one) => nameOf(one) === question.group)!
  process.send!(question.seeds.map((seed) => run(group, seed, question)))
})
process.send!(groups.map(({ run: _, ...group }) => ({ ...group, name: nameOf(group) })))
