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
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return [{ pid: Number(name), parent: Number(parent), command, state }]
      } catch {
        // The process has ended in the meantime.
        return []
      }
    })
}

/** All running descendants of this process. */
export function descendants(root: number): ProcessInfo[] {
  const all = allProcesses().filter(({ state }) => state !== 'Z')
  const found: ProcessInfo[] = []
  const todo = [root]
  for (let pid = todo.pop(); pid !== undefined; pid = todo.pop()) {
    for (const child of all.filter(({ parent }) => parent === pid)) {
      found.push(child)
      todo.push(child.pid)
    }
  }
  return found
}

export function workersOf(root: number): ProcessInfo[] {
  return descendants(root).filter(({ command }) => / worker --join /.test(command))
}

export function slotsOf(root: number): ProcessInfo[] {
  return descendants(root).filter(({ command }) => command.includes('slot-start'))
}

export function isAlive(pid: number): boolean {
  return allProcesses().some((found) => found.pid === pid && found.state !== 'Z')
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
