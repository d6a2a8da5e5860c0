/** Bodies and results: small ones in the row of their job, large ones in rows of at most half a megabyte. */
import { StoreError } from '../../lib/errors.ts'
import { bytesOf, inChunks, takeIn } from '../content.ts'
import type { Content } from '../store.ts'
import type { Database } from './database.ts'
import { fencedError } from './leader.ts'
import { addChunk, dropContent } from './statements.ts'

/** Small contents as they are, large ones by their number in the table of chunks. */
export interface Place {
  bytes: Uint8Array | undefined
  content: number | undefined
  length: number
}

export const nowhere: Place = { bytes: undefined, content: undefined, length: 0 }

/** As a row of a job has it. */
export interface Found {
  bytes: Uint8Array | null
  chunks: number | null
  length: number
}

const chunkBytes = 512 * 1024

/** Reads the content to its end. A large one is written, and belongs to no job yet. Errors of the content are passed on. */
export async function place(db: Database, epoch: number, content: Content): Promise<Place> {
  const taken = await takeIn(content)
  // A view shares its memory with others, who may change it before it is written.
  if ('bytes' in taken)
    return { bytes: new Uint8Array(taken.bytes), content: undefined, length: taken.bytes.length }
  return writeChunks(db, epoch, taken.parts)
}

async function writeChunks(db: Database, epoch: number, parts: AsyncIterable<Uint8Array>): Promise<Place> {
  let content: number | undefined
  let length = 0
  let number = 0
  try {
    for await (const chunk of inChunks(parts, chunkBytes)) {
      const [row] = await db.write<{ content: number }>(addChunk, [epoch, content ?? null, number++, chunk])
      if (!row) throw await fencedError(db, epoch)
      content = row.content
      length += chunk.length
    }
    return { bytes: undefined, content, length }
  } catch (error) {
    await drop(db, epoch, { bytes: undefined, content, length })
    throw error
  }
}

/** If it fails, the next leader removes the content. */
export async function drop(db: Database, epoch: number, { content }: Place): Promise<void> {
  if (content !== undefined) await db.write(dropContent, [epoch, content]).catch(() => {})
}

export function read(db: Database, { bytes, chunks, length }: Found): AsyncIterable<Uint8Array> {
  return chunks === null ? bytesOf(bytes ?? new Uint8Array()) : readChunks(db, chunks, length)
}

async function* readChunks(db: Database, content: number, length: number): AsyncGenerator<Uint8Array> {
  const text = 'SELECT bytes FROM plimsoll.chunks WHERE content = $1 AND number = $2'
  for (let number = 0, left = length; left > 0; number++) {
    const [row] = await db.read<{ bytes: Uint8Array }>(text, [content, number])
    if (!row) throw new StoreError(`${db.store}: a content was removed while it was read`)
    left -= row.bytes.length
    yield row.bytes
  }
}
