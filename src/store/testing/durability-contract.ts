import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import type { JobStore } from '../store.ts'
import { answerOf, bytesOf, epochOf, idsOf, keepAll, type MakeSubject, newJob, range } from './samples.ts'

export function durabilityContract(name: string, make: MakeSubject): void {
  test(`${name}: a store that is opened again has all of its jobs`, async (t) => {
    const subject = await make(t)
    const before = await subject.open()
    const epoch = await epochOf(before)
    for (const number of range(5)) {
      const body = Buffer.alloc(number * 50_000, 'b')
      await before.accept(
        epoch,
        newJob(number, { body, idempotency: { key: `${number}`, fingerprint: 'f' } }),
      )
    }
    await before.answer(epoch, 'job-1', answerOf(1, { body: Buffer.alloc(200_000, 'r') }))
    const pages = await before.list({ limit: 2 })
    await before.close()
    await assert.rejects(before.job('job-1'), /is closed/)
    await before.close()

    const after = await subject.open()
    t.after(() => after.close())
    assert.deepEqual(await idsOf(after.open()), ['job-0', 'job-2', 'job-3', 'job-4'])
    assert.deepEqual(await idsOf((await after.list({ limit: 9, cursor: pages.cursor! })).jobs), [
      ...['job-2', 'job-1', 'job-0'],
    ])
    assert.equal((await bytesOf(await after.body('job-4'))).length, 200_000)
    assert.ok((await bytesOf((await after.result('job-1'))?.body)).equals(Buffer.alloc(200_000, 'r')))
    const next = await epochOf(after)
    assert.ok(next > epoch, 'epochs grow across openings')
    const idempotency = { key: '3', fingerprint: 'f' }
    assert.equal((await after.accept(next, newJob(9, { idempotency }))).kind, 'repeated')
  })

  test(`${name}: everything that a killed process had written is there`, async (t) => {
    const subject = await make(t)
    // The tables are made before, so that the process is killed in the middle of its writes.
    await (await subject.open()).close()
    for (const _round of [1, 2]) {
      const lines = await killAfter(subject.location, 400)
      const store = await subject.open()
      try {
        await allWritten(store, lines)
        await forgetAll(store)
      } finally {
        await store.close()
      }
    }
  })
}

async function killAfter(location: string, lineCount: number): Promise<string[]> {
  const entry = new URL('./accepting-process.ts', import.meta.url)
  const child = spawn(process.execPath, [entry.pathname, location], { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const exited = once(child, 'exit')
  const lines: string[] = []
  for await (const line of createInterface(child.stdout)) {
    lines.push(line)
    if (lines.length === lineCount) child.kill('SIGKILL')
  }
  await exited
  assert.ok(lines.length >= lineCount, `the process ended early: ${errors}`)
  return lines
}

async function allWritten(store: JobStore, lines: readonly string[]): Promise<void> {
  for (const line of lines) {
    const [what, number] = line.split(' ') as [string, string]
    const job = await store.job(`job-${number}`)
    assert.ok(job, line)
    const content = Buffer.alloc(Number(number) % 10 === 0 ? 100_000 : 200, `${number} `)
    if (what === 'accepted') assert.ok((await bytesOf(await store.body(job.id))).equals(content), line)
    else assert.equal(job.state, what, line)
    if (job.state === 'answered') {
      assert.ok((await bytesOf((await store.result(job.id))?.body)).equals(content), line)
    }
    assert.equal((await store.byKey('client', `key-${number}`))?.id, job.id)
  }
}

async function forgetAll(store: JobStore): Promise<void> {
  // The lease of the killed process may still last; the same holder need not wait for it.
  const epoch = await epochOf(store, 'child')
  for await (const { id } of store.open()) await store.cancel(epoch, id, 1)
  await store.sweep(epoch, Number.MAX_SAFE_INTEGER, { ...keepAll, keepMs: 0, keepBytes: 0, rememberMs: 0 })
  assert.deepEqual((await store.list({ limit: 1 })).jobs, [])
}
