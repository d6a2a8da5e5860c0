/**
 * Attacks on real clusters, with innocent clients beside them: none of their requests may be lost, wrong, run twice or
 * delayed. npm run check:hostile [-- --only NAME,NAME]
 */

import { parseArgs } from 'node:util'
import { type Experiment, Trial, type Verdict } from '../support/hostile/trial.ts'
import { adminGuard, hiddenSecrets } from './hostile/access.ts'
import { clockJumps, damagedLedger } from './hostile/damage.ts'
import { http2Attacks } from './hostile/http2.ts'
import { halfClosed, idleConnections, largeJson, unrepeatable, uploads } from './hostile/input.ts'
import { keeperAttacks, unfetchedResults } from './hostile/keeper.ts'
import {
  brainKills,
  brainPause,
  escapedChildren,
  longRestart,
  orphanFronts,
  takenId,
} from './hostile/processes.ts'
import { fewDescriptors, fullDisk, ledgerGrowth } from './hostile/resources.ts'
import { smuggling, smugglingToWorkloads } from './hostile/smuggling.ts'
import { hungJobs, hungRequests, idleWebSockets, poisonedSlots, slowReaders } from './hostile/waiting.ts'

const experiments: readonly Experiment[] = [
  longRestart,
  unfetchedResults,
  ...[
    largeJson,
    uploads,
    idleConnections,
    unrepeatable,
    halfClosed,
    smuggling,
    smugglingToWorkloads,
    http2Attacks,
  ],
  ...[slowReaders, hungJobs, hungRequests, idleWebSockets, poisonedSlots],
  ...[brainPause, brainKills, takenId, escapedChildren, orphanFronts],
  ...[fewDescriptors, fullDisk, ledgerGrowth, damagedLedger, clockJumps],
  keeperAttacks,
  ...[hiddenSecrets, adminGuard],
]

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const chosen = experiments.filter(
  ({ name }) => values.only === undefined || values.only.split(',').includes(name),
)
if (chosen.length === 0)
  throw new Error(
    `--only = ${values.only}: must be some of ${experiments.map(({ name }) => name).join(', ')}`,
  )

console.log(
  `${'experiment'.padEnd(18)} verdict  sent  right  wrong  doubled  lost  slow  slowest  slowdown  deaths  workers lost   time`,
)
const verdicts: Verdict[] = []
const background: Promise<void>[] = []
for (const experiment of chosen) {
  const running = new Trial().run(experiment).then(show)
  if (experiment.inBackground) background.push(running)
  else await running
}
await Promise.all(background)

const guards = chosen.filter(({ isGuard }) => isGuard).map(({ name }) => name)
if (guards.length > 0) console.log(`guards, which no known version fails: ${guards.join(', ')}`)
const failed = verdicts.filter(isFailed)
const sum = (of: (verdict: Verdict) => number) => verdicts.reduce((total, verdict) => total + of(verdict), 0)
console.log(
  JSON.stringify({
    experiments: verdicts.length,
    failed: failed.length,
    lost: sum(({ lost }) => lost),
    wrong: sum(({ wrong }) => wrong),
    doubled: sum(({ doubled }) => doubled),
    main_deaths: sum(({ mainDeaths }) => mainDeaths),
    innocent_workers_lost: sum(({ workersLost }) => workersLost),
    sent: sum(({ sent }) => sent),
    slow: sum(({ slow }) => slow),
    skipped: verdicts.filter(({ skipped }) => skipped !== undefined).map(({ name }) => name),
  }),
)
process.exit(failed.length === 0 ? 0 : 1)

function isFailed({ failures, wrong, doubled, lost, slow, mainDeaths, workersLost }: Verdict): boolean {
  return failures.length + wrong + doubled + lost + slow + mainDeaths + workersLost > 0
}

function show(verdict: Verdict): void {
  verdicts.push(verdict)
  const word = verdict.skipped !== undefined ? 'skipped' : isFailed(verdict) ? 'FAILED' : 'held'
  const cells = [
    ...[
      word.padEnd(7),
      `${verdict.sent}`.padStart(5),
      `${verdict.right}`.padStart(6),
      `${verdict.wrong}`.padStart(6),
    ],
    ...[`${verdict.doubled}`.padStart(8), `${verdict.lost}`.padStart(5), `${verdict.slow}`.padStart(5)],
    `${(verdict.slowestMs / 1000).toFixed(1)} s`.padStart(8),
    ...[(verdict.slowdown?.toFixed(1) ?? '–').padStart(9), `${verdict.mainDeaths}`.padStart(7)],
    ...[`${verdict.workersLost}`.padStart(13), `${(verdict.ms / 1000).toFixed(0)} s`.padStart(6)],
  ]
  console.log(`${verdict.name.padEnd(18)} ${cells.join(' ')}`)
  if (verdict.skipped !== undefined) console.log(`    ${verdict.skipped}`)
  for (const failure of verdict.failures.slice(0, 8))
    console.log(`    ${failure.replaceAll('\n', '\n      ').slice(0, 1500)}`)
}
