import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { collect, digest, firstDifference, mapLines } from '../../tools/same-actions/log.ts'
import { normalise, renameFields } from '../../tools/same-actions/normalise.ts'
import { noRenames, type Renames } from '../../tools/same-actions/renames.ts'

const here = resolve(import.meta.dirname, '../..')

/** The comparison of this checkout with another, over a few runs of one policy. */
function compared(checkout: string) {
  const main = join(here, 'tools/same-actions/main.ts')
  const { status, stdout } = spawnSync(
    process.execPath,
    [main, here, checkout, '--seeds', '2', '--policy', 'srpt', '--no-renames'],
    { encoding: 'utf8' },
  )
  return { status, lines: stdout.trimEnd().split('\n') }
}

test('a checkout is the same as itself', () => {
  const { status, lines } = compared(here)
  assert.match(lines.at(-1)!, /^same: 4 of 4 runs, [\d,]+ log entries$/)
  assert.equal(status, 0)
})

test('a checkout with another brain constant is different, and the first difference is shown', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'plimsoll-same-actions-'))
  t.after(() => rmSync(copy, { recursive: true }))
  cpSync(join(here, 'src'), join(copy, 'src'), { recursive: true })
  cpSync(join(here, 'package.json'), join(copy, 'package.json'))
  symlinkSync(join(here, 'node_modules'), join(copy, 'node_modules'))
  const chaos = join(copy, 'src/simulate/chaos-scenario.ts')
  const source = readFileSync(chaos, 'utf8')
  const altered = source.replace('missedBeats: 2 +', 'missedBeats: 3 +')
  assert.notEqual(altered, source)
  writeFileSync(chaos, altered)

  const { status, lines } = compared(copy)
  assert.match(lines[0]!, /^scheduler srpt, with faults .* different: \d$/)
  assert.match(lines[1]!, /^scheduler srpt, no faults .* same$/)
  assert.match(lines[2]!, /^first difference: scheduler srpt, with faults, seed \d, line \d+, column \d+$/)
  assert.match(lines[3]!, /^ {2}old: \{"at":/)
  assert.match(lines[4]!, /^ {2}new: \{"at":/)
  assert.notEqual(lines[3]!.slice(6), lines[4]!.slice(6))
  assert.equal(status, 1)
})

const header = '{"plimsoll":"event-log","version":3,"brain":{"limits":{"turnMs":10}}}\n'
const entry =
  '{"at":1.5,"event":{"type":"would-end","worker":"w1","ms":2},"actions":[{"type":"stay","worker":"w1","reason":{"code":"too-few","have":1}}]}\n'
const logOf = (...chunks: (string | Uint8Array)[]) =>
  collect((log) => {
    for (const chunk of chunks) log(chunk)
  })

test('a modified line changes the digest and is found; the header counts only on request', () => {
  const log = logOf(header, Buffer.from(entry), entry)
  const modified = entry.replace('1.5', '1.6')
  const other = logOf(header.replace('10', '20') + entry, modified)
  assert.deepEqual([log.header, `${log.entries}`], [header, entry + entry])
  assert.notEqual(digest(other, false), digest(log, false))
  assert.deepEqual(firstDifference(header + entry + entry, header + entry + modified, false), {
    ...{ line: 3, column: 9, old: entry.trimEnd(), new: modified.trimEnd() },
  })
  assert.equal(firstDifference(header + entry, header + entry + entry, false)?.old, '(end of log)')
  const reconfigured = logOf(header.replace('10', '20'), entry, entry)
  assert.equal(digest(reconfigured, false), digest(log, false))
  assert.notEqual(digest(reconfigured, true), digest(log, true))
})

test('renamed events, actions, codes, fields and settings are the same after renames', () => {
  const table: Renames = {
    events: { 'would-end': 'end-requested', stay: 'never' },
    actions: { stay: 'keep' },
    codes: { 'too-few': 'minimum' },
    fields: { ms: 'idleMs' },
    settings: { turnMs: 'minimumTurnMs' },
  }
  const now = entry
    .replace('would-end', 'end-requested')
    .replace('"ms"', '"idleMs"')
    .replace('"stay"', '"keep"')
    .replace('too-few', 'minimum')
  const log = mapLines(logOf(header, entry), (line) => normalise(line, table))
  assert.equal(`${log.entries}`, now)
  assert.equal(log.header, header.replace('turnMs', 'minimumTurnMs'))
  assert.deepEqual(renameFields({ a: [{ b: 1 }] }, { b: 'c' }), { a: [{ c: 1 }] })
  const untouched = mapLines(logOf(header, entry), (line) => normalise(line, noRenames))
  assert.equal(`${untouched.header}${untouched.entries}`, header + entry)
})
