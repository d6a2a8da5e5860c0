/** What is done to a cluster: processes are killed, frozen and starved. Which, and when, is drawn. */

import { setTimeout as delay } from 'node:timers/promises'
import { roleOf } from '../../test/support/hostile/process-tree.ts'
import type { Up } from '../../test/support/hostile/up.ts'
import type { ProcessInfo } from '../../test/support/processes.ts'

export const targets = ['slot', 'worker', 'brain', 'keeper', 'front'] as const
export type Target = (typeof targets)[number]

/** From 0 to 1. */
export type Draw = () => number

export interface Harm {
  /** For the log. */
  name: string
  /** How early it is drawn, beside the others. */
  weight: number
  /** False: no process for it was found. Whatever lasts is passed to `lasting`. */
  begin(draw: Draw, lasting: (end: Promise<void>) => void): boolean
}

export class Counts {
  kills = 0
  freezes = 0
  starvations = 0
  readonly killsOf: Record<Target, number> = { slot: 0, worker: 0, brain: 0, keeper: 0, front: 0 }
}

/** Shorter than what makes a worker lost, and longer. */
const freezeMs = [500, 5_000]
const starveMs = 5_000
/** A starved process runs for a fortieth of the time. */
const [awakeMs, asleepMs] = [5, 195]

/** Does harm at random intervals; resolves when everything that lasts is over. */
export async function doHarm(
  harms: readonly Harm[],
  { forMs, everyMs, draw, isOver }: { forMs: number; everyMs: number; draw: Draw; isOver(): boolean },
): Promise<void> {
  const ends = performance.now() + forMs
  const lasting: Promise<void>[] = []
  let left: readonly Harm[] = []
  while (performance.now() < ends && !isOver()) {
    await delay(everyMs * (0.5 + draw()))
    // As from a deck of cards: each harm has its turn before one is repeated.
    if (left.length === 0) left = harms
    const harm = drawn(left, draw())
    left = left.filter((each) => each !== harm)
    harm.begin(draw, (end) => lasting.push(end))
  }
  await Promise.all(lasting)
}

/** The harm that stands at this part of the way if each takes as much room as its weight. */
function drawn(harms: readonly Harm[], part: number): Harm {
  let rest = part * harms.reduce((sum, { weight }) => sum + weight, 0)
  for (const harm of harms) {
    rest -= harm.weight
    if (rest < 0) return harm
  }
  return harms.at(-1)!
}

/** Kills, freezes and starves processes of one kind. `killed` is called before a kill. */
export function harmsOf(
  target: Target,
  { up, counts, killed }: { up: () => Up | undefined; counts: Counts; killed?: () => void },
): Harm[] {
  const choose = (draw: Draw) => {
    const cluster = up()
    const all = cluster && !cluster.isDead ? processesOf(cluster, target) : []
    return all[Math.floor(draw() * all.length)]?.pid
  }
  const kill: Harm['begin'] = (draw) => {
    const pid = choose(draw)
    if (pid === undefined) return false
    killed?.()
    if (!signal(pid, 'SIGKILL')) return false
    counts.kills++
    counts.killsOf[target]++
    return true
  }
  const freeze: Harm['begin'] = (draw, lasting) => {
    const pid = choose(draw)
    if (pid === undefined) return false
    counts.freezes++
    lasting(freezeFor(pid, freezeMs[Math.floor(draw() * freezeMs.length)]!))
    return true
  }
  const starve: Harm['begin'] = (draw, lasting) => {
    const pid = choose(draw)
    if (pid === undefined) return false
    counts.starvations++
    lasting(starveFor(pid, starveMs))
    return true
  }
  return [
    { name: `kill ${target}`, weight: target === 'slot' ? 2 : 1, begin: kill },
    { name: `freeze ${target}`, weight: 0.5, begin: freeze },
    { name: `starve ${target}`, weight: 0.5, begin: starve },
  ]
}

function processesOf(up: Up, target: Target): ProcessInfo[] {
  if (target === 'brain') return up.processes().filter(({ command }) => command.includes(' --supervised'))
  return up.processes().filter((process) => roleOf(process, up.pid) === target)
}

async function freezeFor(pid: number, ms: number): Promise<void> {
  if (!signal(pid, 'SIGSTOP')) return
  await delay(ms)
  signal(pid, 'SIGCONT')
}

/** As if others used nearly all of the CPU. */
async function starveFor(pid: number, ms: number): Promise<void> {
  const ends = performance.now() + ms
  while (performance.now() < ends && signal(pid, 'SIGSTOP')) {
    await delay(asleepMs)
    signal(pid, 'SIGCONT')
    await delay(awakeMs)
  }
}

/** False: it has ended. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
