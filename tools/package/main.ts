/**
 * Prepares `npm pack`. Between `prepack` and `postpack` package.json and README.md are those of the published package; if npm was
 * killed in between, the next `restore`, `build` or `prepack` puts the repository's back.
 *
 * node tools/package/main.ts build | prepack | restore
 */

import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { repositoryAddress, withAbsoluteLinks } from './absolute-links.ts'
import { build } from './build.ts'
import { isPacked, type Manifest, packedManifest } from './manifest.ts'

const root = join(import.meta.dirname, '..', '..')
const manifest = join(root, 'package.json')
const kept = join(root, '.plimsoll', 'package.repository.json')
const readme = join(root, 'README.md')
const keptReadme = join(root, '.plimsoll', 'README.repository.md')

function read(): Manifest {
  return JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
}

function restore(): void {
  if (existsSync(keptReadme)) renameSync(keptReadme, readme)
  if (!isPacked(read())) rmSync(kept, { force: true })
  else if (existsSync(kept)) renameSync(kept, manifest)
  else throw new Error('package.json is that of the published package: restore it from version control')
}

function replace(): void {
  mkdirSync(dirname(kept), { recursive: true })
  const repository = read()
  copyFileSync(readme, keptReadme)
  writeFileSync(readme, withAbsoluteLinks(readFileSync(readme, 'utf8'), repositoryAddress(repository)))
  copyFileSync(manifest, kept)
  writeFileSync(manifest, `${JSON.stringify(packedManifest(repository), null, 2)}\n`)
}

const command = process.argv[2] ?? ''
if (!['build', 'prepack', 'restore'].includes(command)) {
  console.error(`package: command = ${command}: must be build, prepack or restore`)
  process.exit(2)
}
restore()
if (command !== 'restore') await build(root)
if (command === 'prepack') replace()
