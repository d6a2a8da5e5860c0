/** A file for an answer: written completely or not at all. */

import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '../../lib/errors.ts'

export interface OutFile {
  readonly name: string
  write(body: Readable): Promise<void>
  /** Removes a partial answer, and a new file without content. Idempotent. */
  close(): Promise<void>
}

/** Opened before the request is sent, so that no work is done for an answer that cannot be written. */
export async function openOut(name: string): Promise<OutFile> {
  // Special files such as /dev/null are not removed.
  let unfinished = !existsSync(name)
  // Append mode keeps the present content until there is an answer.
  const handle = await open(name, 'a').catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(`--out = ${name}: cannot be written (${error.code})`)
  })
  return {
    name,
    async write(body) {
      if ((await handle.stat()).isFile()) {
        unfinished = true
        await handle.truncate(0)
      }
      await pipeline(body, handle.createWriteStream())
      unfinished = false
    },
    async close() {
      await handle.close()
      if (unfinished) await rm(name, { force: true })
    },
  }
}
