import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readAddresses, writeAddresses } from './addresses-file.ts'

const addresses = { url: 'http://127.0.0.1:1', admin: 'http://127.0.0.1:2' }
let data: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'plimsoll-addresses-'))
})
afterEach(() => rmSync(data, { recursive: true }))

test('addresses are found until the cluster stops', async () => {
  assert.equal(await readAddresses(data), undefined)
  const remove = writeAddresses(data, addresses)
  assert.deepEqual(await readAddresses(data), { ...addresses, pid: process.pid })
  remove()
  assert.equal(await readAddresses(data), undefined)
})

test('addresses of a process that has ended, and files that hold something else, are ignored', async () => {
  const { pid } = spawnSync('true')
  for (const text of [
    JSON.stringify({ ...addresses, pid }),
    '',
    '{}',
    'null',
    '{"url":"x","admin":1,"pid":1}',
  ]) {
    writeFileSync(join(data, 'addresses.json'), text)
    assert.equal(await readAddresses(data), undefined, text)
  }
})

test('the file of another cluster is not removed', () => {
  const remove = writeAddresses(data, addresses)
  writeFileSync(join(data, 'addresses.json'), JSON.stringify({ ...addresses, pid: 1 }))
  remove()
  assert.ok(existsSync(join(data, 'addresses.json')))
})
