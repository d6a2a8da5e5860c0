/**
 * What the package exports is documented, in a comment and in docs/reference/library.md; and what the documentation imports
 * is exported.
 */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
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

const imports = /\bimport (?:type )?(\{[^}]*\}|\w+) from '([^']+)'/g
const requires = /\bconst (\{[^}]*\}|\w+) = require\('([^']+)'\)/g

test('examples of the documentation import what the package exports, Node, or files beside them', () => {
  const complaints: string[] = []
  let found = 0
  for (const name of globSync('{README,docs/**/*,examples/**/*,workloads/*}.md', { cwd: root })) {
    const text = readFileSync(join(root, name), 'utf8')
    for (const pattern of [imports, requires])
      for (const [, names, specifier] of text.matchAll(pattern)) {
        found++
        const problem = problemOf(names!, specifier!)
        if (problem !== undefined) complaints.push(`${name}: ${problem}`)
      }
  }
  assert.ok(found > 10, `${found} imports found`)
  assert.deepEqual(complaints, [])
})

function problemOf(names: string, specifier: string): string | undefined {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return undefined
  const entry = exports[specifier.replace(/^plimsoll(?=\/|$)/, '.')]
  if (entry === undefined) return `${specifier}: users have not installed it`
  const there = exportsOf(join(root, entry))
  const asked = names.startsWith('{') ? names.slice(1, -1).split(',') : ['default']
  const missing = asked
    .map((each) =>
      each
        .trim()
        .replace(/^type /, '')
        .replace(/ as .*/, ''),
    )
    .filter((each) => each !== '' && !there.has(each))
  return missing.length > 0 ? `${specifier} exports no ${missing.join(', ')}` : undefined
}
