import assert from 'node:assert/strict'
import test from 'node:test'
import type { OptionSpecs } from '../config/option.ts'
import { compare } from './compare.ts'
import { type Command, helpPage, isGiven, readOptions } from './options.ts'
import { simulate } from './simulate.ts'
import { up } from './up.ts'
import { worker } from './worker.ts'

const specs = {
  jobCount: { type: 'integer', help: 'how many', default: 5, min: 1, max: 9 },
  share: { type: 'number', help: 'how much' },
  kind: { type: 'text', help: 'which', choices: ['a', 'b'] },
  quick: { type: 'flag', help: 'faster' },
} as const satisfies OptionSpecs

const read = (...args: string[]) => readOptions(args, specs)

test('reads flags, fills in defaults and returns the remaining arguments', () => {
  assert.deepEqual(read('x', '--job-count', '7', '--quick', '--kind=b'), {
    values: { jobCount: 7, share: undefined, kind: 'b', quick: true },
    rest: ['x'],
  })
  assert.equal(read().values.jobCount, 5)
})

test('an error names the flag, its value and what is allowed', () => {
  const rejected: [args: string[], message: string][] = [
    [['--job-count', '10'], '--job-count = 10: must be a whole number from 1 to 9'],
    [['--job-count', '2.5'], '--job-count = 2.5: must be a whole number from 1 to 9'],
    [['--job-count', ''], '--job-count = : must be a whole number from 1 to 9'],
    [['--share', 'x'], '--share = x: must be a number'],
    [['--kind', 'c'], '--kind = c: must be one of a, b'],
    [['--share'], '--share: requires a value'],
    [['--share', '-1'], '--share: requires a value; one that begins with a dash is written as --share=-1'],
    [['--quick=1'], '--quick: takes no value'],
    [['--none'], "Unknown option '--none'"],
    [['--knid', 'a'], "Unknown option '--knid'; did you mean --kind?"],
    [['--share-url', '1'], "Unknown option '--share-url'; did you mean --share?"],
  ]
  for (const [args, message] of rejected) assert.throws(() => read(...args), { code: 'CONFIG', message })
})

test('values of a configuration file count where the command line gives none', () => {
  const file = { file: 'f.json', values: { jobCount: 3, quick: true, kind: 'a' } }
  assert.deepEqual(readOptions(['--kind', 'b'], specs, file).values, {
    jobCount: 3,
    share: undefined,
    kind: 'b',
    quick: true,
  })
  assert.throws(() => readOptions([], specs, { file: 'f.json', values: { jobCount: '3' } }), {
    message: "f.json: jobCount = '3': must be a whole number from 1 to 9",
  })
})

test('knows which flags were given', () => {
  assert.ok(isGiven(['--job-count=1'], 'jobCount') && isGiven(['--job-count', '1'], 'jobCount'))
  assert.ok(!isGiven(['--job-count-x'], 'jobCount'))
})

test('help pages fit 100 columns and group options by topic, common ones first', () => {
  for (const [name, command] of Object.entries<Command>({ up, worker, simulate, compare })) {
    const page = helpPage(name, command)
    for (const line of page.split('\n')) assert.ok(line.length <= 100, line)
    for (const flag of Object.keys(command.options)) assert.ok(command.options[flag]!.help.length > 0)
  }
  const topics = [...helpPage('up', up).matchAll(/^(\w+):$/gm)].map(([, topic]) => topic)
  assert.equal(topics[0], 'Common')
  assert.equal(new Set(topics).size, topics.length)
})
