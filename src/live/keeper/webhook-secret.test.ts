import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { MemoryJobStore } from '../../store/memory.ts'
import { webhookSecret } from './webhook-secret.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'plimsoll-secret-'))
  t.after(() => rmSync(path, { recursive: true }))
  return join(path, 'webhook')
}

const ofFolder = { sharedSecret: async () => undefined }

test('clusters that share a store sign with the same secret, and each has it in its file', async (t) => {
  const store = new MemoryJobStore()
  const lines: string[] = []
  const log = (line: string) => void lines.push(line)
  const [one, other, third] = [folder(t), folder(t), folder(t)]
  // Its receivers know it already.
  writeFileSync(one, 'whsec_known\n')
  writeFileSync(third, 'whsec_other\n', { mode: 0o600 })
  for (const file of [one, other, third, one]) {
    assert.equal(await webhookSecret(store, file, log), 'whsec_known')
    assert.equal(readFileSync(file, 'utf8'), 'whsec_known\n')
  }
  assert.equal(statSync(other).mode & 0o777, 0o600)
  assert.deepEqual(lines.length, 1)
  assert.ok(lines[0]!.includes(third) && !lines[0]!.includes('whsec'))
})

test('a store of one cluster leaves the secret in the data folder', async (t) => {
  const file = folder(t)
  const secret = await webhookSecret(ofFolder, file, () => {})
  assert.match(secret, /^whsec_/)
  assert.equal(await webhookSecret(ofFolder, file, () => {}), secret)
  assert.notEqual(await webhookSecret(ofFolder, folder(t), () => {}), secret)
})
