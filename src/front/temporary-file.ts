/** Temporary files of requests and answers. They have no name, so that they disappear with the process. */

import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '../lib/alive.ts'

/** Bytes read at a time. */
const stepBytes = 256 * 1024

export async function openTemporaryFile(of: 'body' | 'answer'): Promise<FileHandle> {
  const name = join(tmpdir(), `plimsoll-${of}-${process.pid}-${randomUUID()}`)
  const file = await open(name, 'wx+', 0o600)
  await rm(name, { force: true })
  return file
}

/** Removes files of processes that were killed before they could unlink them. Never rejects. */
export async function sweepTemporaryFiles(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names) {
    const [, pid] = /^plimsoll-(?:body|answer)-(\d+)-/.exec(name) ?? []
    if (pid !== undefined) await sweep(join(tmpdir(), name), Number(pid)).catch(() => {})
  }
}

async function sweep(path: string, pid: number): Promise<void> {
  // Processes in containers often have the same id as their predecessors.
  const isOld = pid === process.pid && (await stat(path)).mtimeMs < performance.timeOrigin
  if (isOld || !isAlive(pid)) await rm(path, { force: true })
}

/** Up to 256 KiB from `at`, which is before `end`. */
export async function readAt(file: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(stepBytes, end - at))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
  if (bytesRead === 0) throw new Error('the temporary file is truncated')
  return buffer.subarray(0, bytesRead)
}

export async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done)
    done += bytesWritten
  }
}
