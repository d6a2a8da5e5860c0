/**
 * Proves that two checkouts take the same decisions: both run the same seeds at the same time, and the event logs of
 * each run must be byte-identical, but for the header and the names in renames.ts.
 *
 *   npm run -s same-actions -- OLD_CHECKOUT NEW_CHECKOUT [--seeds 200] [--policy NAME] [--quick] [--header] [--no-renames]
 *
 * `--quick` runs 10 seeds of each group, `--policy` one scheduler, scaler or preset, `--header` compares headers too,
 * `--no-renames` ignores renames.ts, for two checkouts with the same names.
 * Exits with 0: all runs are the same; 1: some differ or fail; 2: the comparison could not be made.
 */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { GroupName, Question, Run } from './child.ts'
import { firstDifference } from './log.ts'
import { isEmpty } from './normalise.ts'
import { renames } from './renames.ts'

const usage =
  'usage: OLD_CHECKOUT NEW_CHECKOUT [--seeds N] [--policy NAME] [--quick] [--header] [--no-renames]'
/** The time allowed for one group. It takes seconds on an idle machine. */
const groupMs = 600_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    policy: { type: 'string' },
    quick: { type: 'boolean', default: false },
    header: { type: 'boolean', default: false },
    'no-renames': { type: 'boolean', default: false },
  },
})
const seedCount = Number(values.seeds ?? (values.quick ? 10 : 200))
if (positionals.length !== 2 || !(Number.isInteger(seedCount) && seedCount >= 1)) {
  console.error(usage)
  process.exit(2)
}
const hasRenames = !values['no-renames'] && !isEmpty(renames)
const seeds = Array.from({ length: seedCount }, (_, i) => i + 1)

const children = positionals.map((root, i) => {
  const side = i === 0 ? 'old' : 'new'
  const child = fork(
    join(import.meta.dirname, 'child.ts'),
    side === 'old' && hasRenames ? [root, 'renames'] : [root],
  )
  const answer = async <T>(): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const stop = (why: string) => reject(new Error(`the ${side} checkout, ${root}: ${why}`))
    const timer = setTimeout(() => stop(`no answer within ${groupMs / 1000} s`), groupMs)
    const exited = () => stop('its process ended')
    child.once('exit', exited)
    child.once('message', resolve as (message: unknown) => void)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      child.off('exit', exited)
    }
  }
  const groups = answer<GroupName[]>()
  const ask = (question: Question) => {
    child.send(question)
    return answer<Run[]>()
  }
  return { child, groups, ask }
})

async function both(
  group: string,
  asked: readonly number[],
  how: Pick<Question, 'normalised' | 'withText'>,
): Promise<[Run, Run][]> {
  const question = { group, seeds: asked, withHeader: values.header, ...how }
  const [old, now] = await Promise.all(children.map(({ ask }) => ask(question)))
  return old!.map((run, i) => [run, now![i]!])
}

const isSame = ([old, now]: [Run, Run]) =>
  old.error === undefined && now.error === undefined && old.hash === now.hash

/** Where the two logs of this run differ, in full. */
async function describe(group: string, seed: number): Promise<string> {
  const [pair] = await both(group, [seed], { normalised: hasRenames, withText: true })
  const [old, now] = pair!
  const where = `first difference: ${group}, seed ${seed}`
  if (old.error !== undefined || now.error !== undefined)
    return `${where}\n  old: ${old.error ?? 'no error'}\n  new: ${now.error ?? 'no error'}`
  const difference = firstDifference(old.text!, now.text!, values.header)
  if (!difference) return `${where}: none in a second run, so a run depends on more than its seed`
  return `${where}, line ${difference.line}, column ${difference.column}\n  old: ${difference.old}\n  new: ${difference.new}`
}

async function compare(): Promise<boolean> {
  const [oldGroups, newGroups] = await Promise.all(children.map(({ groups }) => groups))
  const all = new Map([...oldGroups!, ...newGroups!].map((group) => [group.name, group]))
  const chosen = [...all.values()].filter(({ policy }) => policy === (values.policy ?? policy))
  const known = [...new Set([...all.values()].map(({ policy }) => policy))]
  if (chosen.length === 0) throw new Error(`--policy ${values.policy}: must be one of ${known.join(', ')}`)
  const totals = { runs: 0, same: 0, entries: 0 }
  let first: string | undefined
  for (const { name } of chosen) {
    totals.runs += seeds.length
    const missing = [oldGroups!, newGroups!].findIndex(
      (groups) => !groups.some((group) => group.name === name),
    )
    if (missing >= 0) {
      first ??= `first difference: the ${missing === 0 ? 'old' : 'new'} checkout lacks ${name}`
      console.log(`${name.padEnd(46)} missing`)
      continue
    }
    const pairs = await both(name, seeds, { normalised: false, withText: false })
    let different = pairs.filter((pair) => !isSame(pair)).map(([{ seed }]) => seed)
    const renamed = different.length > 0 && hasRenames
    if (renamed) {
      const again = await both(name, different, { normalised: true, withText: false })
      different = again.filter((pair) => !isSame(pair)).map(([{ seed }]) => seed)
    }
    const entries = pairs.reduce((sum, [, run]) => sum + run.entries, 0)
    const megabytes = pairs.reduce((sum, [, run]) => sum + run.bytes, 0) / 1e6
    totals.same += seeds.length - different.length
    totals.entries += entries
    const verdict =
      different.length > 0 ? `different: ${different.length}` : renamed ? 'same after renames' : 'same'
    console.log(
      `${name.padEnd(46)} ${seeds.length} runs ${entries.toLocaleString('en').padStart(10)} entries ` +
        `${megabytes.toFixed(1).padStart(6)} MB  ${verdict}`,
    )
    if (different.length > 0) first ??= await describe(name, different[0]!)
  }
  if (first !== undefined) console.log(first)
  console.log(
    `same: ${totals.same} of ${totals.runs} runs, ${totals.entries.toLocaleString('en')} log entries`,
  )
  return totals.same === totals.runs
}

try {
  process.exitCode = (await compare()) ? 0 : 1
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 2
} finally {
  for (const { child } of children) child.kill()
}
