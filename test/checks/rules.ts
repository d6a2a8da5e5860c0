/** Runs the tests whose names begin with a rule's number, and prints the results by rule. Fails if a rule has no passing test. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { run } from 'node:test'
import { styleText } from 'node:util'
import { rules } from '../../src/systems/rules.ts'

/** Lists the rules; not part of the project. */
const source = '../shared/systems.md'
const number = /^([A-Z]{2}-\d+)\b/

interface Found {
  name: string
  result: 'passed' | 'failed' | 'skipped'
}

const files = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'workloads/**/*.test.ts']).filter((file) =>
  /\(\s*['"`][A-Z]{2}-\d+\b/.test(readFileSync(file, 'utf8')),
)
const found = new Map<string, Found[]>()
const other: string[] = []
const stream = run({ files, testNamePatterns: [/^(CP|TI|CN|HC|EW)-\d+\b/], concurrency: 2 })
stream.on('test:pass', ({ name, skip, todo }) =>
  note(name, skip !== undefined || todo !== undefined ? 'skipped' : 'passed'),
)
stream.on('test:fail', ({ name, details }) => {
  if (number.test(name)) {
    note(name, 'failed')
    console.error(`${name}\n${String(details.error.cause ?? details.error)}\n`)
  } else other.push(name)
})
for await (const _ of stream);

function note(name: string, result: Found['result']): void {
  const rule = number.exec(name)?.[1]
  if (rule === undefined) return
  const list = found.get(rule) ?? []
  list.push({ name: name.slice(rule.length).trim(), result })
  found.set(rule, list)
}

const marks = { passed: styleText('green', '✓'), failed: styleText('red', '✗'), skipped: '–' } as const
const bad: string[] = []
for (const [rule, text] of Object.entries(rules)) {
  const tests = found.get(rule) ?? []
  const good =
    tests.some(({ result }) => result === 'passed') && !tests.some(({ result }) => result === 'failed')
  if (!good) bad.push(rule)
  console.log(`${styleText('bold', rule)}  ${text}`)
  if (tests.length === 0) console.log(`       ${styleText('red', '✗ no test')}`)
  for (const { name, result } of tests) console.log(`       ${marks[result]} ${name}`)
}
const unknown = [...found.keys()].filter((rule) => !(rule in rules))
for (const rule of unknown) console.log(`${rule}  unknown rule`)
if (existsSync(source)) {
  const listed = [...readFileSync(source, 'utf8').matchAll(/^- \*\*([A-Z]{2}-\d+)\*\*/gm)].map(
    (match) => match[1]!,
  )
  const missing = listed.filter((rule) => !(rule in rules))
  if (missing.length > 0) bad.push(...missing)
  for (const rule of missing) console.log(`${rule}  missing from the rules`)
}
const total = Object.keys(rules).length
const tests = [...found.values()].reduce((sum, list) => sum + list.length, 0)
console.log(
  `\n${total - bad.length} of ${total} rules hold, by ${tests} tests${bad.length > 0 ? `; without: ${bad.join(', ')}` : ''}`,
)
process.exitCode = bad.length + unknown.length + other.length > 0 ? 1 : 0
