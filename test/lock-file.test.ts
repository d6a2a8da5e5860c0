import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

interface Locked {
  resolved?: string
  integrity?: string
  link?: boolean
  inBundle?: boolean
}

for (const file of ['package-lock.json', 'deploy/aws/package-lock.json']) {
  const { packages } = JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')) as {
    packages: Record<string, Locked>
  }
  // A package that is part of another one has no hash of its own.
  const installed = Object.entries(packages).filter(
    ([folder, { link, inBundle }]) => folder !== '' && !link && !inBundle,
  )

  test(`${file}: every package has a strong hash, which npm ci compares with what it downloads`, () => {
    const weak = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))
    assert.deepEqual(
      weak.map(([folder]) => folder),
      [],
    )
    assert.ok(installed.length > 1)
  })

  test(`${file}: no package names a download address: the registry is the choice of who installs`, () => {
    assert.deepEqual(
      installed.filter(([, { resolved }]) => resolved !== undefined).map(([folder]) => folder),
      [],
    )
  })
}
