import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const program = join(import.meta.dirname, 'testing', 'few-descriptors.ts')

test('starts without a free descriptor fail with a message, and later ones succeed', async () => {
  const script = `ulimit -n 64; exec '${process.execPath}' '${program}'`
  const { stdout } = await promisify(execFile)('sh', ['-c', script], { timeout: 60_000 })
  const { exhausted, released, lines } = JSON.parse(stdout) as Record<string, string[]>
  const [launch, invocation, front] = exhausted!
  assert.match(launch!, /EMFILE/)
  assert.match(invocation!, /EMFILE/)
  assert.equal(front, 'tried')
  assert.deepEqual(released, ['exited with code 3', 'a function ended during its start', 'tried'])
  const told = lines!.filter((line) => /EMFILE/.test(line))
  assert.deepEqual(
    told.map((line) => line.replace(/: spawn.*$/, '')),
    ['functions: cannot be started', 'front f1: ended'],
  )
})
