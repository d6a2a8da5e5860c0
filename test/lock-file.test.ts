import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

interface Locked {
  resolved?: string
  integrity?: string
  link?: boolean
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, Locked>
}
const installed = Object.entries(packages).filter(([folder, { link }]) => folder !== '' && !link)

test('every locked package has a strong hash, which npm ci compares with what it downloads', () => {
  const weak = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
  assert.deepEqual(
    weak.map(([folder]) => folder),
    [],
  )
  assert.ok(installed.length > 10)
})

test('no locked package names a download address: the registry is the choice of who installs', () => {
  assert.deepEqual(
    installed.filter(([, { resolved }]) => resolved !== undefined).map(([folder]) => folder),
    [],
  )
})
