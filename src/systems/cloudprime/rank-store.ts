/**
 * CloudPrime's ranks: those in memory, which are also in a file that is read at start; else those in the store, which
 * are then kept in both. Of a request that is still being measured nothing is kept.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import type { Question } from '../../estimate/estimator.ts'
import { isUsable } from '../../estimate/guess.ts'
import { Recent } from '../../estimate/recent.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { ConfigError } from '../../lib/errors.ts'

export interface RankStoreOptions {
  /** One rank a line, as JSON. Made when the first is known. */
  file: string
  store: Pick<Ledger, 'metricsFor'>
  /** So many are kept. */
  keys?: number
  log(line: string): void
}

export interface RankStore {
  /** Asks the store, if memory does not know. Never rejects: a store that cannot be read knows nothing. */
  look(question: Question): Promise<void>
  /** What is known after that. Running: the store has only what was measured so far. */
  find(question: Question): number | 'running' | undefined
  /** Resolves when the file has all. */
  settled(): Promise<void>
}

interface Rank {
  code: string
  key: string
  rank: number
}

export function rankStore({ file, store, keys = 10_000, log }: RankStoreOptions): RankStore {
  const known = new Recent<Rank>(keys)
  const running = new Set<string>()
  let writing = Promise.resolve()
  let isTold = false
  const trouble = (error: unknown) => {
    if (!isTold) log(`estimate: ranks are not kept in ${file}: ${(error as Error).message}`)
    isTold = true
  }
  let lines = readAll()

  function readAll(): number {
    const text = textOf(file)
    const ranks = text.split('\n').filter((line) => line !== '')
    for (const line of ranks) {
      const rank = rankIn(line)
      if (rank) known.set(idOf(rank.code, rank.key), rank)
    }
    // The last line may have been broken off: the next must not be added to it.
    try {
      if (ranks.length > 0) rewrite()
    } catch (error) {
      trouble(error)
    }
    return known.size
  }

  function rewrite(): void {
    const text = [...known.values()].map((rank) => `${JSON.stringify(rank)}\n`).join('')
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }

  function keep(rank: Rank): void {
    known.set(idOf(rank.code, rank.key), rank)
    writing = writing
      .then(() => {
        // Ranks that memory has forgotten are not kept for ever.
        if (lines >= 2 * keys) {
          rewrite()
          lines = known.size
          return undefined
        }
        lines++
        return appendFile(file, `${JSON.stringify(rank)}\n`)
      })
      .catch(trouble)
  }

  return {
    async look({ workload, codeHash, key }) {
      const id = idOf(codeHash, key)
      if (known.get(id)) return
      running.delete(id)
      try {
        const row = await store.metricsFor({ workload, codeHash, parameters: key })
        if (row?.running) {
          // Whoever asked before has its answer.
          if (running.size >= keys) running.clear()
          running.add(id)
        } else if (row && isUsable(row.work) && !known.get(id)) keep({ code: codeHash, key, rank: row.work })
      } catch (error) {
        log(`estimate: the store cannot be asked for ${workload}: ${(error as Error).message}`)
      }
    },
    find({ codeHash, key }) {
      const id = idOf(codeHash, key)
      return known.get(id)?.rank ?? (running.has(id) ? 'running' : undefined)
    },
    settled: () => writing,
  }
}

function idOf(code: string, key: string): string {
  return `${code}\n${key}`
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new ConfigError(`${file}: ranks cannot be read (${(error as Error).message})`)
  }
}

/** Undefined: it is not a rank. */
function rankIn(line: string): Rank | undefined {
  try {
    const { code, key, rank } = JSON.parse(line) as Record<string, unknown>
    const isRank = typeof code === 'string' && typeof key === 'string' && typeof rank === 'number'
    return isRank && isUsable(rank) ? { code, key, rank } : undefined
  } catch {
    return undefined
  }
}
