/** Large contents, each in a file beside the database. A row names the file only when file and folder are on the disk. */
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreError } from '../../lib/errors.ts'
import { privateFile } from '../../lib/private-files.ts'
import { explainError } from './explain-error.ts'

export interface WrittenFile {
  name: string
  bytes: number
}

export interface ContentFiles {
  /** Resolves when the file is durable. If it fails, it leaves no file; errors of `parts` are passed on. */
  write(parts: AsyncIterable<Uint8Array>): Promise<WrittenFile>
  /** Resolves with false if there is no such file. Rejects if its length is another one. */
  has(name: string, bytes: number): Promise<boolean>
  read(name: string): AsyncIterable<Uint8Array>
  /** Removes files that no row names. Failures are left to the sweep at the next opening. */
  remove(names: readonly string[]): Promise<void>
}

export function contentFiles(folder: string, store: string): ContentFiles {
  const syncFolder = inTurns(async () => {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  })

  return {
    async write(parts) {
      const name = randomBytes(16).toString('hex')
      const path = join(folder, name)
      let bytes = 0
      let failure: { error: unknown } | undefined
      async function* counted() {
        try {
          for await (const part of parts) {
            bytes += part.length
            yield part
          }
        } catch (error) {
          failure = { error }
          throw error
        }
      }
      try {
        const handle = await open(path, 'wx', privateFile)
        try {
          await handle.writeFile(counted())
          await handle.datasync()
        } finally {
          await handle.close()
        }
        await syncFolder()
        return { name, bytes }
      } catch (error) {
        await unlink(path).catch(() => {})
        throw failure ? failure.error : explainError(error, store)
      }
    },

    async has(name, bytes) {
      const found = await stat(join(folder, name)).catch(() => undefined)
      if (!found) return false
      if (found.size === bytes) return true
      throw new StoreError(
        `${store}: the file ${join(folder, name)} is damaged: it has ${found.size} bytes, not ${bytes}. Restore a backup`,
      )
    },

    async *read(name) {
      try {
        yield* createReadStream(join(folder, name), { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>
      } catch (error) {
        throw explainError(error, store)
      }
    },

    async remove(names) {
      await Promise.all(names.map((name) => unlink(join(folder, name)).catch(() => {})))
    },
  }
}

/** Callers that come while a turn runs share the next one, which begins after they came. */
function inTurns(turn: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  return () => {
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined
        running = turn()
        return running
      })
    return next
  }
}
