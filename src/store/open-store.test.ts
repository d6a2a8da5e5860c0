import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openJobStore } from './open-store.ts'

test('a path is the folder of a store in files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-jobs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = await openJobStore(join(folder, 'new', 'jobs'))
  await store.close()
  assert.ok(existsSync(join(folder, 'new', 'jobs', 'jobs.db')))
})

test('other locations are rejected by name, without their passwords', async () => {
  for (const location of ['mysql://user:secret@host/jobs', 'redis://host', '']) {
    await assert.rejects(openJobStore(location), (error: Error) => {
      assert.equal(error.name, 'ConfigError')
      assert.match(error.message, /^store = .*: must be/)
      assert.doesNotMatch(error.message, /secret/)
      return true
    })
  }
})

test('a database requires its driver', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-jobs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const room of ['store', 'aws', 'lib'])
    cpSync(join(import.meta.dirname, '..', room), join(folder, room), { recursive: true })
  const required = {
    'postgres://user:secret@host/db': /ConfigError: store: a PostgreSQL database requires npm i pg/,
    'dynamodb://shop': /ConfigError: store: DynamoDB requires npm i @aws-sdk\/client-dynamodb/,
  }
  for (const [location, message] of Object.entries(required)) {
    const script = `import { openJobStore } from '${folder}/store/open-store.ts'
      await openJobStore('${location}')`
    const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      cwd: folder,
    })
    assert.match(stderr, message)
    assert.doesNotMatch(stderr.replace(script, ''), /secret/)
    assert.equal(status, 1)
  }
})
