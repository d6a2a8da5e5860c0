/** Lists processes, for tests that kill some and tests that check that none is left. Linux only. */

import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessInfo {
  pid: number
  parent: number
  command: string
  /** R, S, T (stopped), Z … */
  state: string
}

export function allProcesses(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => infoOf(Number(name)))
}

/** All running descendants of a process, parents first. Tests poll it, so it reads only what belongs to them. */
export function descendants(root: number): ProcessInfo[] {
  return childrenOf(root).flatMap((pid) => [...infoOf(pid), ...descendants(pid)])
}

/** Empty if it has ended and its parent knows. */
function infoOf(pid: number): ProcessInfo[] {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return []
  const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const command = read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? ''
  return state === '' ? [] : [{ pid, parent: Number(parent), command, state }]
}

/** Of all its threads, without zombies. */
function childrenOf(pid: number): number[] {
  let threads: string[]
  try {
    threads = readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
  const lists = threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`) ?? '')
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number)).filter(isAlive)
}

/** Undefined if the process has ended in the meantime. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

export function workersOf(root: number): ProcessInfo[] {
  return descendants(root).filter(({ command }) => / worker --join /.test(command))
}

export function slotsOf(root: number): ProcessInfo[] {
  return descendants(root).filter(({ command }) => command.includes('slot-start'))
}

export function isAlive(pid: number): boolean {
  return infoOf(pid).some(({ state }) => state !== 'Z')
}

/** Resolves when `condition` holds; rejects if it does not in time. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
