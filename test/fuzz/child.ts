/** The process of one target: feeds inputs and reports to its parent, which ends it when it hangs. */

import { corpusOf } from './corpus.ts'
import { type Failure, fuzz, type Plan, type Tally, textOfError } from './fuzz.ts'
import { Guide } from './guide.ts'
import { type Entry, Journal } from './journal.ts'
import { loadTarget } from './targets.ts'

export interface ChildPlan extends Omit<Plan, 'to' | 'ms'> {
  target: string
  journal: string
  /** JSON has no Infinity: left out, there is no limit. */
  to?: number
  ms?: number
  guided: boolean
}

/** What the child reports. Inputs are in base64. */
export type Report =
  | { type: 'failure'; kind: Failure['kind']; number: number; message: string; input: string }
  | {
      type: 'done'
      tally: Omit<Tally, 'reaching'>
      reaching: string[]
      /** Growth of resident memory after the first inputs, both times after a garbage collection. */
      growthMb: number
      peakMb: number
      /** Characters of code; 0 without coverage. */
      reached: number
    }

/** Memory is compared after this many inputs. */
const warmInputs = 500

const {
  target: name,
  journal: path,
  guided,
  from,
  to = Infinity,
  ms = Infinity,
  seed,
} = JSON.parse(process.argv[2]!) as ChildPlan
// Only functions that are compiled later are counted in detail.
const guide = guided ? new Guide() : undefined
const target = await loadTarget(name)
const journal = new Journal(path)
/** Failures that have been reported: the same bug fails on many inputs. */
const reported = new Set<string>()
let current: Entry = { number: from, input: Buffer.alloc(0) }
let warmMb: number | undefined

const send = (report: Report) => new Promise<void>((resolve) => process.send!(report, () => resolve()))

function failed({ kind, number, message, input }: Failure): void {
  const frame = message.split('\n').find((line) => /^ +at /.test(line) && !line.includes('/fuzz/target.ts'))
  const bug = `${kind} ${message.split(':', 1)[0]} ${frame}`
  if (reported.has(bug)) return
  reported.add(bug)
  void send({ type: 'failure', kind, number, message, input: input.toString('base64') })
}

/** Resident memory after a garbage collection that returns unused pages to the system. */
function restingMb(): number {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  return process.memoryUsage().rss / 2 ** 20
}

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) =>
    failed({ ...current, kind: 'crash', message: `${event}: ${textOfError(error)}` }),
  )
}

const opened = await target.open()
const corpus = corpusOf(name).map(({ input }) => input)
const tally = await fuzz(
  target,
  opened,
  corpus,
  { seed, from, to, ms },
  {
    guide,
    failed,
    before(entry) {
      current = entry
      journal.write(entry)
    },
    rested(done) {
      if (done >= warmInputs) warmMb ??= restingMb()
    },
  },
)
const reached = guide?.reachedCharacters ?? 0
guide?.close()
await opened.close?.()
journal.close()
const endMb = restingMb()
const { reaching, ...counts } = tally
await send({
  type: 'done',
  tally: counts,
  reaching: reaching.map((input) => input.toString('base64')),
  growthMb: warmMb === undefined ? 0 : endMb - warmMb,
  peakMb: process.resourceUsage().maxRSS / 1024,
  reached,
})
process.exit(0)
