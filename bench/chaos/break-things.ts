/** Kills and freezes processes of a cluster at random. */

import { setTimeout as delay } from 'node:timers/promises'
import { roleOf } from '../../test/support/hostile/process-tree.ts'
import type { Up } from '../../test/support/hostile/up.ts'
import type { ProcessInfo } from '../../test/support/processes.ts'

export interface Broken {
  kills: number
  freezes: number
  brainKills: number
  frontKills: number
  keeperKills: number
}

export interface BreakOptions {
  forMs: number
  /** True: fronts are killed too. */
  fronts: boolean
  /** From 0 to 1. */
  random(): number
  broken: Broken
}

const everyMs = 1_500
/** Shorter than what makes a worker lost, and longer. */
const freezeMs = [500, 5_000]

const targets = ['slot', 'slot', 'worker', 'brain', 'keeper', 'front'] as const

export async function breakThings(up: Up, { forMs, fronts, random, broken }: BreakOptions): Promise<void> {
  const ends = performance.now() + forMs
  const thaws: Promise<void>[] = []
  while (performance.now() < ends && !up.isDead) {
    await delay(everyMs * (0.5 + random()))
    const target = targets[Math.floor(random() * targets.length)]!
    const choice = random()
    const isFreeze = random() < 0.3
    if (target === 'front' && !fronts) continue
    const all = processesOf(up, target)
    const chosen = all[Math.floor(choice * all.length)]
    if (!chosen) continue
    if (isFreeze) {
      broken.freezes++
      thaws.push(freeze(chosen.pid, freezeMs[Math.floor(random() * freezeMs.length)]!))
      continue
    }
    if (!signal(chosen.pid, 'SIGKILL')) continue
    broken.kills++
    if (target === 'brain') broken.brainKills++
    if (target === 'front') broken.frontKills++
    if (target === 'keeper') broken.keeperKills++
  }
  await Promise.all(thaws)
}

function processesOf(up: Up, target: (typeof targets)[number]): ProcessInfo[] {
  if (target === 'keeper') return [up.keeper()].filter((each) => each !== undefined)
  if (target === 'brain') return up.processes().filter(({ command }) => command.includes(' --supervised'))
  return up.processes().filter((process) => roleOf(process, up.pid) === target)
}

async function freeze(pid: number, ms: number): Promise<void> {
  if (!signal(pid, 'SIGSTOP')) return
  await delay(ms)
  signal(pid, 'SIGCONT')
}

function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    // It has ended.
    return false
  }
}
