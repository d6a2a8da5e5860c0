/**
 * Ends processes that a slot or program started and that have left its process group, for example with `setsid` or by
 * forking twice. They are found by their mark, which all children inherit.
 */

import { readdir, readFile } from 'node:fs/promises'
import { isOrphaned, markName } from './marks.ts'

/** A process may start others while the list is read. */
const mostRounds = 10
/** Files that are read at a time. */
const together = 16

/** Resolves to the number of processes killed. Without /proc none is found. */
export async function killMarked(isWanted: (mark: string) => boolean): Promise<number> {
  let killed = 0
  for (let round = 0; round < mostRounds; round++) {
    const found = await findMarked(isWanted)
    killed += found.filter(kill).length
    if (found.length === 0) break
  }
  return killed
}

/** Ends what earlier workers of this system left behind, for example because they were killed with all their helpers. */
export function killOrphans(): Promise<number> {
  return killMarked(isOrphaned)
}

/** Ends the stragglers of processes that have ended. Requests that arrive while the list is read share the next reading. */
export class Stragglers {
  #pending = new Set<string>()
  #reading: Promise<unknown> | undefined

  /** The process with this mark has ended. */
  end(mark: string): void {
    this.#pending.add(mark)
    this.#reading ??= this.#work().finally(() => {
      this.#reading = undefined
    })
  }

  /** Resolves when none is left. */
  async done(): Promise<void> {
    await this.#reading
  }

  async #work(): Promise<void> {
    while (this.#pending.size > 0) {
      const marks = this.#pending
      this.#pending = new Set()
      await killMarked((mark) => marks.has(mark))
    }
  }
}

async function findMarked(isWanted: (mark: string) => boolean): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const found: number[] = []
  for (let at = 0; at < pids.length; at += together) {
    const some = pids.slice(at, at + together)
    const marks = await Promise.all(some.map(markOf))
    for (const [i, mark] of marks.entries()) {
      if (mark !== undefined && isWanted(mark)) found.push(Number(some[i]))
    }
  }
  return found
}

const pattern = new RegExp(`(?:^|\0)${markName}=([^\0]*)`)

/** Undefined: it has none, has ended, or belongs to another user. */
async function markOf(pid: string): Promise<string | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
  return pattern.exec(environment)?.[1]
}

/** False: it has just ended. */
function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL')
    return true
  } catch {
    return false
  }
}
