import assert from 'node:assert/strict'
import type { FileHandle } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { openTemporaryFile } from '../temporary-file.ts'
import { BodyFile } from './body-file.ts'

const content = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 253))

async function start(t: TestContext, { memory = Infinity, slow = false } = {}) {
  const file = await openTemporaryFile('body')
  const counts = { reads: 0, reserved: 0 }
  /** Writes wait until the test lets them through. */
  const gate = Promise.withResolvers<void>()
  const read = file.read.bind(file) as (...args: unknown[]) => Promise<never>
  file.read = ((...args: unknown[]) => {
    counts.reads++
    return read(...args)
  }) as typeof file.read
  for (const name of ['write', 'writev'] as const) {
    const write = file[name].bind(file) as (...args: unknown[]) => Promise<never>
    file[name] = (async (...args: unknown[]) => {
      if (slow) await gate.promise
      return write(...args)
    }) as never
  }
  const body = new BodyFile(file, 0, (bytes) => {
    counts.reserved = bytes <= memory ? bytes : 0
    return bytes <= memory
  })
  t.after(() => body.close().catch(() => {}))
  return { body, counts, open: () => gate.resolve() }
}

async function all(body: BodyFile, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes; at += parts.at(-1)!.length) parts.push(await body.read(at))
  return Buffer.concat(parts)
}

async function fill(body: BodyFile, step: number): Promise<void> {
  for (let at = 0; at < content.length; at += step) await body.append(content.subarray(at, at + step))
}

for (const step of [1_000, 65_536, 300_000, 1_000_000]) {
  test(`a body of chunks of ${step} bytes is read back from its beginning`, async (t) => {
    const { body, counts } = await start(t)
    await fill(body, step)
    assert.ok((await all(body, content.length)).equals(content))
    await body.flushed()
    body.forgetRecent()
    assert.equal(counts.reserved, 0)
    assert.ok((await all(body, content.length)).equals(content))
  })
}

test('what has just arrived is read from memory', async (t) => {
  const { body, counts } = await start(t)
  for (let at = 0; at < content.length; at += 50_000) {
    await body.append(content.subarray(at, at + 50_000))
    assert.ok((await body.read(at)).equals(content.subarray(at, at + 50_000)))
  }
  assert.equal(counts.reads, 0)
  assert.ok(counts.reserved <= 768 * 1024)
})

test('chunks that are not written yet are read, and too many of them have to wait', async (t) => {
  const { body, open } = await start(t, { slow: true })
  await body.append(content.subarray(0, 100_000))
  await body.append(content.subarray(100_000, 200_000))
  assert.ok((await all(body, 200_000)).equals(content.subarray(0, 200_000)))
  let isWritten = false
  const third = body.append(content.subarray(200_000, 800_000)).then(() => {
    isWritten = true
  })
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(isWritten, false)
  open()
  await third
  assert.ok((await all(body, 800_000)).equals(content.subarray(0, 800_000)))
})

test('without memory each chunk waits for the file, and is read from it', async (t) => {
  const { body, counts } = await start(t, { memory: 0 })
  await fill(body, 300_000)
  assert.ok((await all(body, content.length)).equals(content))
  assert.ok(counts.reads > 10)
})

test('a failed write is reported with the next chunk and at the end', async () => {
  const full = Object.assign(new Error(), { code: 'ENOSPC' })
  const file = { write: () => Promise.reject(full), close: async () => {} } as unknown as FileHandle
  const body = new BodyFile(file, 0, () => true)
  await body.append(Buffer.from('abc'))
  await assert.rejects(body.flushed(), full)
  await assert.rejects(body.append(Buffer.from('d')), full)
})

test('a body that is closed while it is written writes no more', async (t) => {
  const { body, open } = await start(t, { slow: true })
  await body.append(content.subarray(0, 1_000))
  await body.append(content.subarray(1_000, 2_000))
  const closed = body.close()
  open()
  await closed
  await body.flushed().catch(() => {})
})
