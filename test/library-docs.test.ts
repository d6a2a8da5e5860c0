/** What the package exports is documented: in a comment, and in docs/reference/library.md. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import test from 'node:test'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/reference/library.md'), 'utf8')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, string>
}
const entries = Object.values(exports).filter((file) => file.endsWith('.ts'))

/** An exported name and whether a comment precedes its declaration. */
type Exported = Map<string, boolean>

const declaration =
  /(\*\/\n)?^export (?:declare )?(?:async )?(?:abstract )?(?:function|class|interface|type|const) (\w+)/gm
const list = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm
const all = /^export (?:type )?\* from '([^']+)'/gm

function exportsOf(file: string): Exported {
  const source = readFileSync(file, 'utf8')
  const found: Exported = new Map()
  const other = (specifier: string) => exportsOf(resolve(dirname(file), specifier))
  for (const [, comment, name] of source.matchAll(declaration)) found.set(name!, comment !== undefined)
  for (const [, names, specifier] of source.matchAll(list)) {
    const from = specifier === undefined ? undefined : other(specifier)
    for (const name of names!
      .split(',')
      .map((each) => each.trim().replace(/^type /, ''))
      .filter(Boolean))
      found.set(name, from?.get(name) ?? importedBy(source, name, other))
  }
  for (const [, specifier] of source.matchAll(all))
    for (const [name, documented] of other(specifier!)) found.set(name, documented)
  return found
}

/** For names that are imported first and exported on a line of their own. */
function importedBy(source: string, name: string, other: (specifier: string) => Exported): boolean {
  const [, specifier] =
    new RegExp(`import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from '([^']+)'`).exec(source) ?? []
  return specifier !== undefined && other(specifier).get(name) === true
}

for (const entry of entries) {
  const names = exportsOf(join(root, entry))

  test(`every export of ${entry} is found by this test`, async () => {
    const module = (await import(join(root, entry))) as object
    assert.deepEqual(
      Object.keys(module).filter((name) => !names.has(name)),
      [],
    )
  })

  test(`every export of ${entry} has a comment`, () => {
    assert.deepEqual(
      [...names].filter(([, documented]) => !documented).map(([name]) => name),
      [],
    )
  })

  test(`every export of ${entry} is on the reference page`, () => {
    assert.deepEqual(
      [...names.keys()].filter((name) => !page.includes(`\`${name}\``)),
      [],
    )
  })
}
