import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'

test('npm test runs each test file once: in a process of its own, or with its room', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { unit: string } }
  const patterns = [...scripts.unit.matchAll(/"([^"]+\.test\.ts)"/g)].map((match) => match[1]!)
  const rooms = globSync('test/rooms/*.test.ts').map((file) => basename(file, '.test.ts'))
  const runs = [
    ...patterns.flatMap((pattern) => globSync(pattern)),
    ...rooms.flatMap((room) => globSync(`src/${room}/**/*.test.ts`)),
  ]
  assert.deepEqual(runs.filter((file) => file.startsWith('src/')).sort(), globSync('src/**/*.test.ts').sort())
})
