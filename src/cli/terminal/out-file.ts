/** A file for an answer: all of it or nothing. */

import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConfigError } from '../../lib/errors.ts'

export interface OutFile {
  readonly name: string
  write(body: Readable): Promise<void>
  /** Half an answer is removed, and so is a new file that nothing was written to. Idempotent. */
  close(): Promise<void>
}

/** To be opened before the request is sent, so that no work is done for an answer that cannot be kept. */
export async function openOut(name: string): Promise<OutFile> {
  // What is not a file, such as /dev/null, stays where it is.
  let unfinished = !existsSync(name)
  // Appending leaves what the file holds alone until there is an answer.
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
