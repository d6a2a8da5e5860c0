/**
 * CloudPrime's ranks: in memory and in a file that is read at start; else in the ledger's metrics, from where they are
 * copied to both. A request that is still being measured is not kept.
 */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import type { Question } from '../../estimate/estimator.ts'
import { isUsable } from '../../estimate/guess.ts'
import { Recent } from '../../estimate/recent.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { ConfigError } from '../../lib/errors.ts'
import { privateFile } from '../../lib/private-files.ts'

export interface RankStoreOptions {
  /** One rank per line, as JSON. Created with the first rank. */
  file: string
  store: Pick<Ledger, 'metricsFor'>
  /** The number of ranks kept. */
  keys?: number
  log(line: string): void
}

export interface RankStore {
  /** Asks the ledger if memory does not have the rank. Never rejects: a ledger that cannot be read has no ranks. */
  look(question: Question): Promise<void>
  /** What is known after `look`. Running: the ledger has only intermediate metrics. */
  find(question: Question): number | 'running' | undefined
  /** Resolves when all ranks are in the file. */
  settled(): Promise<void>
}

interface Rank {
  code: string
  key: string
  rank: number
}

export function rankStore({ file, store, keys = 10_000, log }: RankStoreOptions): RankStore {
  const known = new RankFile(file, keys, log)
  const running = new Set<string>()
  return {
    async look({ workload, codeHash, key }) {
      const id = idOf(codeHash, key)
      if (known.get(id)) return
      running.delete(id)
      try {
        const row = await store.metricsFor({ workload, codeHash, parameters: key })
        if (row?.running) {
          // Earlier requests have their estimates already.
          if (running.size >= keys) running.clear()
          running.add(id)
        } else if (row && isUsable(row.work) && !known.get(id))
          known.add({ code: codeHash, key, rank: row.work })
      } catch (error) {
        log(`estimate: the ledger has no metrics of ${workload}: ${(error as Error).message}`)
      }
    },
    find({ codeHash, key }) {
      const id = idOf(codeHash, key)
      return known.get(id)?.rank ?? (running.has(id) ? 'running' : undefined)
    },
    settled: () => known.settled(),
  }
}

/** Ranks in memory, with a copy in a file. */
class RankFile {
  readonly #file: string
  readonly #keys: number
  readonly #log: (line: string) => void
  readonly #known: Recent<Rank>
  #lines: number
  #writing = Promise.resolve()
  #hasLogged = false

  constructor(file: string, keys: number, log: (line: string) => void) {
    this.#file = file
    this.#keys = keys
    this.#log = log
    this.#known = new Recent(keys)
    this.#lines = this.#readAll()
  }

  get(id: string): Rank | undefined {
    return this.#known.get(id)
  }

  add(rank: Rank): void {
    this.#known.set(idOf(rank.code, rank.key), rank)
    this.#writing = this.#writing.then(() => this.#append(rank)).catch((error) => this.#failed(error))
  }

  settled(): Promise<void> {
    return this.#writing
  }

  #readAll(): number {
    const ranks = textOf(this.#file)
      .split('\n')
      .filter((line) => line !== '')
    for (const line of ranks) {
      const rank = rankIn(line)
      if (rank) this.#known.set(idOf(rank.code, rank.key), rank)
    }
    // The last line may be incomplete, and the next must not be appended to it.
    try {
      if (ranks.length > 0) this.#rewrite()
    } catch (error) {
      this.#failed(error)
    }
    return this.#known.size
  }

  async #append(rank: Rank): Promise<void> {
    // Drops ranks that memory has evicted.
    if (this.#lines >= 2 * this.#keys) {
      this.#rewrite()
      this.#lines = this.#known.size
      return
    }
    this.#lines++
    await appendFile(this.#file, `${JSON.stringify(rank)}\n`, { mode: privateFile })
  }

  #rewrite(): void {
    const text = [...this.#known.values()].map((rank) => `${JSON.stringify(rank)}\n`).join('')
    writeFileSync(`${this.#file}.new`, text, { mode: privateFile })
    renameSync(`${this.#file}.new`, this.#file)
  }

  #failed(error: unknown): void {
    if (!this.#hasLogged)
      this.#log(`estimate: ranks cannot be written to ${this.#file}: ${(error as Error).message}`)
    this.#hasLogged = true
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

/** Undefined: the line is not a rank. */
function rankIn(line: string): Rank | undefined {
  try {
    const { code, key, rank } = JSON.parse(line) as Record<string, unknown>
    const isRank = typeof code === 'string' && typeof key === 'string' && typeof rank === 'number'
    return isRank && isUsable(rank) ? { code, key, rank } : undefined
  } catch {
    return undefined
  }
}
