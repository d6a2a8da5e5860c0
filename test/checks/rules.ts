/**
 * `npm run rules [-- --digest FILE]`: runs the tests with a rule's number in their names, and prints the results by rule.
 * A test counts for each number in its name. Fails if a rule has no passing test, or is missing from the rules.
 */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { run } from 'node:test'
import { parseArgs, styleText } from 'node:util'
import { rules } from '../../src/systems/rules.ts'
import { ruleName, rulesIn } from './rule-numbers.ts'

/** Lists the rules of the documents; not part of the project. */
const { digest } = parseArgs({
  options: { digest: { type: 'string', default: '../shared/systems.md' } },
}).values
if (!existsSync(digest)) {
  console.error(`${digest} does not exist; --digest names the file that lists the rules of the documents`)
  process.exit(2)
}

interface Found {
  name: string
  result: 'passed' | 'failed' | 'skipped'
}

const all = globSync(['src/**/*.test.ts', 'test/**/*.test.ts', 'workloads/**/*.test.ts'], {
  // These need a server, and run in check:aws.
  exclude: ['test/checks/aws/**'],
})
const files = all.filter((file) =>
  new RegExp(`\\(\\s*['"\`].*${ruleName.source}`).test(readFileSync(file, 'utf8')),
)
const found = new Map<string, Found[]>()
const other: string[] = []
/** Names of all tests of rules. */
const tests = new Set<string>()
const stream = run({ files, testNamePatterns: [ruleName], concurrency: 2 })
stream.on('test:pass', ({ name, skip, todo }) =>
  note(name, skip !== undefined || todo !== undefined ? 'skipped' : 'passed'),
)
stream.on('test:fail', ({ name, details }) => {
  if (rulesIn(name).length > 0) {
    note(name, 'failed')
    console.error(`${name}\n${String(details.error.cause ?? details.error)}\n`)
  } else other.push(name)
})
for await (const _ of stream);

function note(name: string, result: Found['result']): void {
  tests.add(name)
  for (const rule of rulesIn(name)) {
    const list = found.get(rule) ?? []
    list.push({ name: name.replace(/^([A-Z]{2}-\d+ (to |and )?)+/, ''), result })
    found.set(rule, list)
  }
}

const marks = { passed: styleText('green', '✓'), failed: styleText('red', '✗'), skipped: '–' } as const
const bad: string[] = []
for (const [rule, text] of Object.entries(rules)) {
  const results = found.get(rule) ?? []
  const good =
    results.some(({ result }) => result === 'passed') && !results.some(({ result }) => result === 'failed')
  if (!good) bad.push(rule)
  console.log(`${styleText('bold', rule)}  ${text}`)
  if (results.length === 0) console.log(`       ${styleText('red', '✗ no test')}`)
  for (const { name, result } of results) console.log(`       ${marks[result]} ${name}`)
}
const unknown = [...found.keys()].filter((rule) => !(rule in rules))
for (const rule of unknown) console.log(`${rule}  unknown rule`)
const listed = [...readFileSync(digest, 'utf8').matchAll(/^- \*\*([A-Z]{2}-\d+)\*\*/gm)].map(
  (match) => match[1]!,
)
const missing = listed.filter((rule) => !(rule in rules))
for (const rule of missing) console.log(`${rule}  missing from the rules`)
if (listed.length === 0) console.log(`${digest} lists no rules`)
const total = Object.keys(rules).length
console.log(
  `\n${total - bad.length} of ${total} rules hold, by ${tests.size} tests${bad.length > 0 ? `; without: ${bad.join(', ')}` : ''}`,
)
const isWrong = bad.length + missing.length + unknown.length + other.length > 0 || listed.length === 0
process.exitCode = isWrong ? 1 : 0
