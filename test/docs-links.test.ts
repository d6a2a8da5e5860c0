/** Checks the references of the documentation: linked files and headings, paths, scripts and benchmarks. */

import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..')
const pages = globSync('{*,{docs,decisions,examples,workloads}/**/*}.md', { cwd: root }).sort()
const texts = new Map(pages.map((page) => [page, readFileSync(join(root, page), 'utf8')]))

const fence = /^ *```.*?^ *```/gms
const withoutFences = (text: string) => text.replace(fence, '')
const withoutCode = (text: string) => withoutFences(text).replace(/`[^`]*`/g, '')

/** Applies `check` to each match of `pattern` on every page; fails with all complaints. */
function checkAll(
  pattern: RegExp,
  partOf: (text: string) => string,
  check: (page: string, ...groups: string[]) => string | undefined,
): void {
  const complaints: string[] = []
  let found = 0
  for (const [page, text] of texts) {
    for (const [, ...groups] of partOf(text).matchAll(pattern)) {
      found++
      const complaint = check(page, ...groups)
      if (complaint !== undefined) complaints.push(`${page}: ${complaint}`)
    }
  }
  assert.ok(found > 0, 'the pattern has no match')
  assert.deepEqual(complaints, [])
}

/** The anchors of a page's headings, as GitHub derives them. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of withoutFences(texts.get(page) ?? '').matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const slug = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

test('every relative link leads to a file, and every anchor to a heading', () => {
  checkAll(/\]\(([^()\s]+)\)/g, withoutCode, (page, target) => {
    if (/^[a-z]+:/.test(target!)) return undefined
    const [path = '', anchor] = target!.split('#')
    const file = path === '' ? page : relative(root, resolve(root, dirname(page), path))
    if (!existsSync(join(root, file))) return `${target}: no such file`
    return anchor === undefined || anchorsOf(file).has(anchor) ? undefined : `${target}: no such heading`
  })
})

test('every source, test and document path in backticks exists', () => {
  checkAll(/`((?:src|test|bench|docs|decisions)\/[^`\s]*)`/g, withoutFences, (_, path) => {
    // For a path with a placeholder, such as src/brain/schedule/NAME.ts, the folder must exist.
    const isPattern = /[A-Z]{3,}|[*{…]/.test(path!)
    return existsSync(join(root, isPattern ? dirname(path!) : path!)) ? undefined : `${path}: no such path`
  })
})

test('every npm script exists', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  checkAll(
    /npm run (?:-s )?([a-z][a-z0-9:-]*)/g,
    (text) => text,
    (_, name) => (Object.hasOwn(scripts, name!) ? undefined : `npm run ${name}: no such script`),
  )
})

test('every benchmark exists', () => {
  const main = readFileSync(join(root, 'bench/main.ts'), 'utf8')
  checkAll(
    /npm run -s bench -- ([a-z-]+)/g,
    (text) => text,
    (_, name) => (main.includes(`from './${name}.ts'`) ? undefined : `bench ${name}: no such benchmark`),
  )
})

test('every command of the command line exists', () => {
  const main = readFileSync(join(root, 'src/cli/main.ts'), 'utf8')
  checkAll(
    /(?:npm run -s plimsoll -- |^plimsoll |`plimsoll )([a-z]+)/gm,
    (text) => text,
    (_, name) => (main.includes(`import('./${name}.ts')`) ? undefined : `plimsoll ${name}: no such command`),
  )
})

test('every page of the documentation is in its index', () => {
  const index = texts.get('docs/README.md') ?? ''
  const missing = pages
    .filter((page) => page.startsWith('docs/') && page !== 'docs/README.md')
    .filter((page) => !index.includes(`(${page.slice('docs/'.length)})`))
  assert.deepEqual(missing, [])
})
