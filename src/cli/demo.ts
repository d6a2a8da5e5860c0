import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import { clusterOptions } from '../config/cluster-options.ts'
import { defaultsOf, type OptionValues } from '../config/option.ts'
import { UnreachableError } from '../lib/errors.ts'
import type { Cluster, ClusterState } from '../live/cluster.ts'
import { sizeText } from '../story/fleet-story.ts'
import { presetOf } from '../systems/presets.ts'
import { clusterFrom } from './cluster/from-options.ts'
import { drive, type Sent } from './demo/drive.ts'
import { GrowthWatch } from './demo/growth.ts'
import { growthRuleOf } from './demo/growth-rules.ts'
import { type Killed, killBusyWorker } from './demo/kill.ts'
import { drawLoad, drawPhases } from './demo/load.ts'
import { checkOrders, type Orders } from './demo/orders.ts'
import { presetLoads } from './demo/preset-loads.ts'
import { type Figures, figuresOf, figuresTable, refusalsOf, verdict } from './demo/report.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { client } from './terminal/client.ts'
import { interruptible } from './terminal/interrupt.ts'
import { progressLine, waitingLine } from './terminal/progress.ts'
import { duration, table } from './terminal/table.ts'
import { fitted } from './terminal/width.ts'

const options = {
  seconds: { type: 'number', help: 'duration of the load, in seconds', default: 10, min: 1, max: 600 },
  workers: {
    type: 'integer',
    help: 'number of workers; of the five systems, the maximum',
    default: 2,
    min: 1,
    max: 64,
  },
  preset: {
    type: 'text',
    help: 'preset of the cluster; the five systems get their own requests and a fleet that grows and shrinks',
    default: 'plimsoll',
    choices: clusterOptions.preset.choices,
  },
  seed: { type: 'integer', help: 'seed of all randomness', default: 1, min: 0, max: 2 ** 48 },
  json: { type: 'flag', help: 'print JSON instead of a table' },
} as const

/** A cluster under load that loses a worker and no request. */
export const demo: Command = {
  summary: 'Start a cluster, send it a mixed load, kill a worker, and check every answer.',
  usage: '[options]',
  options,
  async run(args) {
    const values = readOnlyOptions('demo', args, options)
    const logged: string[] = []
    const dataDir = mkdtempSync(join(tmpdir(), 'plimsoll-demo-'))
    try {
      return await interruptible(async (signal) => {
        const run = await runDemo(values, dataDir, (line) => logged.push(line), signal)
        const good = report(run, values)
        if (!good) for (const line of logged.slice(-20)) console.error(`  ${line}`)
        return good ? 0 : 1
      })
    } finally {
      // What a worker that had to be killed leaves behind ends a moment later, and may write until then.
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10 })
    }
  },
}

interface Run {
  /** How the fleet grew and shrank. */
  steps: ClusterState['steps']
  sent: Sent[]
  killed: Killed | undefined
  orders: Orders
  /** Undefined: the fleet has a fixed size. */
  growth: GrowthWatch | undefined
}

async function runDemo(
  { seconds, workers, seed, preset }: OptionValues<typeof options>,
  dataDir: string,
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<Run> {
  const { load, settings, settleSeconds, growth } = planOf({ seconds, workers, seed, preset })
  const say = (line: string) => {
    if (!process.stderr.isTTY) console.error(line)
  }
  const defaults = defaultsOf(clusterOptions)
  const stopWaiting = waitingLine('the cluster starts')
  const places = { port: 0, adminPort: 0, data: dataDir }
  const cluster = await clusterFrom({ ...defaults, ...places, ...settings }, log).catch((error) => {
    stopWaiting()
    throw error
  })
  const sent: Sent[] = []
  let steps: ClusterState['steps'] = []
  let killed: Killed | undefined
  try {
    await untilReady(cluster, settings.min, signal)
    stopWaiting()
    say(`${many(cluster.state().ready, 'worker')} ready at ${cluster.url}; ${load.length} requests follow.`)
    const stopShowing = showProgress(cluster, sent, load.length, () => killed, say)
    const connection = client(new URL(cluster.url))
    const looking = setInterval(() => growth?.look(cluster.state(), performance.now()), 100)
    const over = new AbortController()
    try {
      const killing = killBusyWorker(
        cluster,
        load.at(-1)!.atMs / 3,
        AbortSignal.any([signal, over.signal]),
      ).then((found) => {
        killed = found
        if (found)
          say(
            `Worker ${found.worker} (process ${found.pid}) was killed with ${many(found.held, 'job')} in hand.`,
          )
      })
      await drive(connection, load, sent, signal)
      over.abort()
      await killing
      await untilSmall(cluster, settings.min, settleSeconds, signal)
    } finally {
      over.abort()
      clearInterval(looking)
      stopShowing()
      await connection.close()
    }
  } finally {
    stopWaiting()
    steps = cluster.state().steps
    await cluster.stop(0)
  }
  // The cluster has stopped, so no further order can be placed.
  return { sent, steps, killed, orders: checkOrders(dataDir, sent), growth }
}

/** The load and the settings of the cluster. The five systems have loads that make their fleets grow and shrink. */
function planOf({ seconds, workers, seed, preset }: Omit<OptionValues<typeof options>, 'json'>) {
  const own = presetLoads[preset]
  if (!own) {
    const settings = { preset, min: workers, max: workers }
    return { load: drawLoad(seed, seconds), settings, settleSeconds: 0, growth: undefined }
  }
  const { draws, phases, settleSeconds } = own
  const { scale, trial = { timeScale: 1, workScale: 1 } } = presetOf(preset)
  const rule = growthRuleOf(presetOf(preset, trial))
  const least = scale?.min ?? 1
  const settings = {
    preset,
    timeScale: trial.timeScale,
    workScale: trial.workScale,
    min: least,
    max: Math.max(workers, least + 1, Math.min(scale?.max ?? 4, scale?.tiers ? 7 : 4)),
  }
  return {
    load: drawPhases(seed, phases, draws),
    settings,
    settleSeconds,
    growth: rule && new GrowthWatch(settings.max, rule),
  }
}

/** Waits until the fleet has shrunk to its minimum. */
async function untilSmall(
  cluster: Cluster,
  least: number,
  seconds: number,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + seconds * 1000
  const isSmall = () => {
    const { ready, booting, draining } = cluster.state()
    return ready <= least && booting.length + draining === 0
  }
  while (performance.now() < until && !isSmall()) await wait(50, undefined, { signal })
}

/** Time for the whole fleet to boot, even on a busy machine. */
const bootLimitMs = 60_000

/** Waits for the whole fleet, so that the figures exclude the start of the cluster. */
async function untilReady(cluster: Cluster, workers: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + bootLimitMs
  while (cluster.state().ready < workers) {
    signal.throwIfAborted()
    if (performance.now() > until) {
      const { ready, launchTroubles } = cluster.state()
      const why = launchTroubles.length > 0 ? `: ${launchTroubles.at(-1)}` : ''
      throw new UnreachableError(
        `demo: ${ready} of ${workers} workers are up after ${bootLimitMs / 1000} s${why}`,
      )
    }
    await wait(20)
  }
}

/** Shows a progress bar on a terminal, elsewhere a line every two seconds. Returns a function that ends it. */
function showProgress(
  cluster: Cluster,
  sent: readonly Sent[],
  total: number,
  killed: () => Killed | undefined,
  say: (line: string) => void,
): () => void {
  const line = progressLine()
  const counts = () => {
    const answered = sent.filter(({ ending }) => ending !== undefined).length
    const { ready } = cluster.state()
    const loss = killed() ? ` · ${killed()!.worker} was killed` : ''
    const text = `${sent.length} sent · ${answered} answered · ${sent.length - answered} running · ${many(ready, 'worker')}${loss}`
    return { answered, text }
  }
  const drawing = setInterval(() => {
    const { answered, text } = counts()
    line.show(answered / total, text)
  }, 100)
  const saying = setInterval(() => say(counts().text), 2000)
  return () => {
    clearInterval(drawing)
    clearInterval(saying)
    line.done()
  }
}

/** Prints the summary. True: no fault was found, and the fleet grew when it had to. */
function report(
  { sent, steps, killed, orders, growth }: Run,
  { json, workers, seed }: OptionValues<typeof options>,
): boolean {
  const rows = figuresOf(sent)
  const all = rows.at(-1)!
  const good = all.lost === 0 && all.wrong === 0 && growth?.fault === undefined
  const refusals = refusalsOf(sent)
  if (json) {
    const fleet = growth && { path: growth.path, ...(growth.fault && { fault: growth.fault }) }
    console.log(
      JSON.stringify({ good, seed, workers, killed, orders, fleet, requests: rows, refusals, steps }),
    )
    return good
  }
  console.log(`${figuresTable(rows)}\n`)
  console.log(`${stepsTable(steps)}\n`)
  for (const line of story(all, killed, orders).split('\n')) console.log(fitted(line))
  if (growth) console.log(`Fleet: ${growth.path}.`)
  for (const line of refusals) console.log(`  ${line}`)
  const explained = ['right', 'refused', 'dropped', undefined]
  const troubles = sent.filter(({ ending, trouble }) => !explained.includes(ending) && trouble !== '')
  for (const line of troublesTold(troubles)) console.log(`  ${line}`)
  if (growth?.fault) console.log(styleText('red', `Fault: ${growth.fault}.`, { stream: process.stdout }))
  console.log(
    styleText(['bold', good ? 'green' : 'red'], fitted(verdict(all, orders)), { stream: process.stdout }),
  )
  return good
}

function story({ retried }: Figures, killed: Killed | undefined, { placed, placedUnknown }: Orders): string {
  const loss = killed
    ? `Worker ${killed.worker} was killed with ${many(killed.held, 'job')} in hand; ${many(retried, 'request')} in all took more than one attempt.`
    : 'No worker was killed: none had anything in hand.'
  const unknown = placedUnknown > 0 ? `, of which ${placedUnknown} with an answer of unknown outcome` : ''
  return placed > 0 ? `${loss}\nThe shop has ${many(placed, 'order')}${unknown}.` : loss
}

/** One example of each kind of fault. */
function troublesTold(troubles: readonly Sent[]): string[] {
  const groups = Map.groupBy(
    troubles,
    ({ request, ending, trouble }) => `${request.kind} ${ending} ${trouble.slice(0, 60)}`,
  )
  return [...groups.values()].slice(0, 20).map((group) => {
    const { request, ending, trouble } = group[0]!
    const times = group.length > 1 ? ` (${group.length} times)` : ''
    return `${request.kind}, ${ending}${times}: ${trouble.slice(0, 300)}`
  })
}

function stepsTable(steps: ClusterState['steps']): string {
  const first = steps[0]?.at ?? 0
  return table(
    ['time', 'fleet after it', 'what happened and why'],
    steps.map((step) => [duration(step.at - first), sizeText(step), step.text]),
    [1, 2],
  )
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
