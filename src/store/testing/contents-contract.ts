import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { inlineBytes } from '../content.ts'
import { answerOf, bytesOf, type MakeSubject, newJob, openLed } from './samples.ts'

const sizes = [
  0,
  1,
  inlineBytes - 1,
  inlineBytes,
  inlineBytes + 1,
  2 ** 20 - 1,
  2 ** 20,
  2 ** 20 + 1,
  3_000_000,
]
const partBytes = 64 * 1024

function sample(bytes: number): Buffer {
  return Buffer.alloc(bytes, createHash('sha256').update(`${bytes}`).digest())
}

async function* inParts(bytes: Uint8Array, part = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += part) yield bytes.subarray(at, at + part)
}

export function contentsContract(name: string, make: MakeSubject): void {
  test(`${name}: contents of any size come back as they were, from memory and from streams`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    for (const bytes of sizes) {
      const content = sample(bytes)
      for (const [kind, of] of [
        ['whole', () => content] as const,
        ['streamed', () => inParts(content)] as const,
      ]) {
        const id = `${kind}-${bytes}`
        await store.accept(epoch, newJob(bytes, { id, body: of() }))
        assert.equal((await store.job(id))?.bodyBytes, bytes)
        assert.ok((await bytesOf(await store.body(id))).equals(content), `body ${id}`)
        await store.answer(epoch, id, answerOf(1, { body: of() }))
        const result = await store.result(id)
        assert.equal(result?.bytes, bytes)
        assert.ok((await bytesOf(result.body)).equals(content), `result ${id}`)
      }
    }
  })

  test(`${name}: a body that shares its memory with others is kept alone`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    const shared = Buffer.from('before|body|after')
    const accepted = store.accept(epoch, newJob(1, { body: shared.subarray(7, 11) }))
    await accepted
    shared.fill('x')
    assert.equal(`${await bytesOf(await store.body('job-1'))}`, 'body')
  })

  test(`${name}: a stream that fails fails its write, and the next one succeeds`, async (t) => {
    const { store, epoch } = await openLed(t, await make(t))
    async function* broken(bytes: number) {
      yield Buffer.alloc(bytes)
      throw new TypeError('the client has gone')
    }
    for (const bytes of [10, 200_000, 3_000_000]) {
      await assert.rejects(
        store.accept(epoch, newJob(1, { body: broken(bytes) })),
        /TypeError: the client has gone/,
      )
      assert.equal(await store.job('job-1'), undefined)
    }
    await store.accept(epoch, newJob(1))
    await assert.rejects(
      store.answer(epoch, 'job-1', answerOf(1, { body: broken(200_000) })),
      /TypeError: the client has gone/,
    )
    assert.equal(await store.answer(epoch, 'job-1', answerOf(1)), true)
  })
}

/** Not for stores that keep contents in memory. */
export function boundedMemoryContract(name: string, make: MakeSubject): void {
  test(`${name}: 20 MB are streamed in and out without being held in memory`, async (t) => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const { store, epoch } = await openLed(t, await make(t))
    const parts = 320
    let most = 0
    let seen = 0
    const watch = () => {
      if (seen++ % 32 !== 0) return
      collect()
      // The second collection waits until the memory of the first one is free.
      collect()
      most = Math.max(most, process.memoryUsage().arrayBuffers)
    }
    async function* large() {
      for (let part = 0; part < parts; part++) {
        watch()
        yield Buffer.alloc(partBytes, part)
      }
    }
    collect()
    const before = process.memoryUsage().arrayBuffers
    await store.accept(epoch, newJob(1, { body: large() }))
    await store.answer(epoch, 'job-1', answerOf(1, { body: large() }))
    const hash = createHash('sha256')
    for await (const part of (await store.result('job-1'))!.body) {
      watch()
      hash.update(part)
    }
    const expected = createHash('sha256')
    for (let part = 0; part < parts; part++) expected.update(Buffer.alloc(partBytes, part))
    assert.equal(hash.digest('hex'), expected.digest('hex'))
    assert.ok(most - before < 12 * 2 ** 20, `${((most - before) / 2 ** 20).toFixed(1)} MB were held`)
  })
}
