/**
 * A long run at saturation, with workers killed and rolling restarts: memory must be flat after the warm-up, and nothing
 * may be left when the load is over. npm run -s check:soak -- --minutes 10
 */

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { BusyLoad } from '../support/hostile/busy-load.ts'
import { Disturbances } from '../support/hostile/disturbances.ts'
import { Innocents } from '../support/hostile/innocents.ts'
import { KeptClients } from '../support/hostile/kept-clients.ts'
import { isFlat, type Sample, trendOf } from '../support/hostile/memory-trend.ts'
import { openFiles, roleOf, rssMbOf } from '../support/hostile/process-tree.ts'
import { type State, startUp, type Up } from '../support/hostile/up.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, clients: { type: 'string', default: '24' } },
})
const lengthMs = Number(values.minutes) * 60_000
/** Restarts end here, so that processes live long enough to show whether they grow. */
const rolls = [0.1, 0.25, 0.4]
/** Heaps, models and caches have filled by then. */
const warmPart = 0.55
const sampleEveryMs = 1_000
const killEveryMs = Math.max(10_000, lengthMs / 24)
/** Idle connections are closed after a minute, surplus slots after one to two: each has three descriptors in its worker. */
const settleMs = 150_000
/** Open kept jobs end in this time once the load is over. */
const keptMs = 300_000

interface Life {
  role: string
  samples: Sample[]
}

/** Memory of each process over time, by process id. */
function watchMemory(up: Up): { lives: Map<number, Life>; stop(): void } {
  const lives = new Map<number, Life>()
  const timer = setInterval(() => {
    const atMs = performance.now()
    for (const process of up.processes()) {
      const role = process.pid === up.brain()?.pid ? 'brain' : roleOf(process, up.pid)
      if (role === 'other') continue
      const life = lives.get(process.pid) ?? { role, samples: [] }
      life.samples.push({ atMs, mb: rssMbOf(process.pid) })
      lives.set(process.pid, life)
    }
  }, sampleEveryMs)
  return { lives, stop: () => clearInterval(timer) }
}

async function killWorkers(up: Up, isOver: () => boolean): Promise<number> {
  let kills = 0
  for (;;) {
    await delay(killEveryMs)
    if (isOver()) return kills
    const { workers } = await up.state()
    const worker = workers.findLast(({ state, pid }) => state === 'ready' && pid !== undefined)
    if (workers.length < 2 || !worker) continue
    up.killedWorkers.add(worker.id)
    process.kill(worker.pid!, 'SIGKILL')
    kills++
  }
}

async function roll(up: Up, began: number): Promise<string[]> {
  const failed: string[] = []
  for (const part of rolls) {
    await delay(Math.max(0, began + part * lengthMs - performance.now()))
    if (up.isDead) return failed
    const restart = up.command('restart', '--admin', up.adminUrl)
    let said = ''
    for (const output of [restart.stdout!, restart.stderr!])
      output.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    const [code] = await once(restart, 'close')
    // A worker that is killed meanwhile may end a restart half-way.
    if (code !== 0) failed.push(said.slice(-200))
  }
  return failed
}

/** Descriptors of all processes that are not slots; slots come and go. */
function descriptors(up: Up): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const process of up.processes()) {
    const role = roleOf(process, up.pid)
    if (role === 'slot' || role === 'other') continue
    counts[role] = Math.max(counts[role] ?? 0, openFiles(process.pid).length)
  }
  return counts
}

function temporaryFiles(up: Up): string[] {
  const open = up.processes().flatMap(({ pid }) => openFiles(pid))
  return [...readdirSync(join(up.folder, 'tmp')), ...open].filter((name) =>
    /plimsoll-(body|answer)/.test(name),
  )
}

function leftIn({ jobs, waiting, placed, workers, fronts }: State): string[] {
  return [
    ...(jobs > 0 ? [`${jobs} jobs`] : []),
    ...(waiting.length > 0 ? [`${waiting.length} waiting`] : []),
    ...(placed > 0 ? [`${placed} placed`] : []),
    ...workers.filter(({ usedMemoryMb }) => Math.abs(usedMemoryMb) > 0.01).map(({ id }) => `memory of ${id}`),
    ...fronts.filter(({ inHand }) => inHand > 0).map(({ id }) => `requests of front ${id}`),
  ]
}

/** What is left some time after the load. */
async function settle(up: Up, before: Record<string, number>) {
  const look = async () => {
    const now = descriptors(up)
    const grown = Object.entries(now).filter(([role, count]) => count > (before[role] ?? Infinity) + 4)
    return { left: leftIn(await up.state()), files: temporaryFiles(up), now, grown }
  }
  const ends = performance.now() + settleMs
  for (;;) {
    const found = await look()
    const isClean = found.left.length + found.files.length + found.grown.length === 0
    if (isClean || performance.now() > ends) return found
    await delay(1_000)
  }
}

const size = ['--fronts', '2', '--min', '2', '--max', '2', '--queue', '200']
// Results fill their space early, so that memory and disk must stay flat afterwards.
const up = await startUp({ flags: [...size, '--result-space', '1'] })
const service = {
  ...{ urls: () => [up.url], disturbances: new Disturbances() },
  isOver: () => up.isDead || up.isStopped,
}
const keptIn = (clients: number, name: string) =>
  new KeptClients(service, { clients, file: join(up.folder, 'runs'), name })
const warm = new Innocents(up, { clients: 2 })
const warmKept = keptIn(1, 'warm')
await warm.more(50)
await warm.stop()
await warmKept.stop(keptMs)
await delay(2_000)
const before = descriptors(up)
console.log(`descriptors before: ${JSON.stringify(before)}`)

const began = performance.now()
const isOver = () => performance.now() - began >= lengthMs || up.isDead
const memory = watchMemory(up)
const load = new BusyLoad(up, Number(values.clients))
const innocents = new Innocents(up, { clients: 2, slowMs: 20_000, mayBeUnknown: true, name: 'soak' })
const kept = keptIn(2, 'kept')
const kills = killWorkers(up, isOver)
const rolling = roll(up, began)
while (!isOver()) await delay(500)
await Promise.all([load.stop(), innocents.stop()])
await kept.stop(keptMs)
memory.stop()
const killed = await kills
const failedRolls = await rolling

const trends = [...memory.lives].flatMap(([pid, { role, samples }]) => {
  const settled = samples.filter(({ atMs }) => atMs - began > lengthMs * warmPart)
  const trend =
    (settled.at(-1)?.atMs ?? 0) - (settled[0]?.atMs ?? 0) > lengthMs * 0.35 ? trendOf(settled) : undefined
  return trend ? [{ pid, role, ...trend, flat: isFlat(trend) }] : []
})
for (const { role, pid, firstMb, lastMb, growthMb, noiseMb, troughsMb, flat } of trends) {
  console.log(
    `${role.padEnd(7)} ${`${pid}`.padStart(7)}  ${firstMb.toFixed(1)} MB → ${lastMb.toFixed(1)} MB, line ${growthMb.toFixed(1)} MB, noise ${noiseMb.toFixed(1)} MB: ${flat ? 'flat' : `GROWS: ${troughsMb.join(' ')}`}`,
  )
}
for (const trouble of [
  ...load.troubles,
  ...innocents.troubles,
  ...kept.troubles.slice(0, 20),
  ...failedRolls,
])
  console.log(`  ${trouble}`)
const died = up.isDead
const found = died
  ? { left: ['the main process ended'], files: [], now: {}, grown: [] }
  : await settle(up, before)
console.log(
  `descriptors after: ${JSON.stringify(found.now)}; left: ${[...found.left, ...found.files].join(', ') || 'nothing'}`,
)
await up.stop()
const { counts } = load
const keptLost = kept.counts.accepted - kept.counts.completed
const isAtRest =
  !died &&
  trends.every(({ flat }) => flat) &&
  trends.length > 0 &&
  found.left.length + found.files.length + found.grown.length === 0
const result = {
  ...{
    minutes: Number(values.minutes),
    sent: counts.sent + innocents.counts.sent,
    lost: counts.lost + innocents.counts.lost + keptLost,
  },
  ...{
    wrong: counts.wrong + innocents.counts.wrong + kept.counts.wrong,
    doubled: innocents.counts.doubled,
    refused: counts.refused,
    kept: kept.counts.accepted,
  },
  ...{ kills: killed, rolls: rolls.length, rolls_failed: failedRolls.length, main_deaths: died ? 1 : 0 },
  growth_mb: Object.fromEntries(
    trends.map(({ role, pid, growthMb }) => [`${role} ${pid}`, Number(growthMb.toFixed(1))]),
  ),
  ...{ flat: trends.every(({ flat }) => flat), descriptors_left: found.grown.length },
  ...{ files_left: found.files.length, jobs_left: found.left.length },
}
const isGood = isAtRest && result.lost + result.wrong + result.doubled === 0
// What the cluster said tells which process lost a request.
if (!isGood) for (const line of up.lines) console.log(`  ${line}`)
console.log(JSON.stringify(result))
process.exit(isGood ? 0 : 1)
