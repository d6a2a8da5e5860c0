/** Plants mistakes in a copy of the sources and runs single tests there. */

import { spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..', '..')

/** Replaces text that occurs once in a file. */
export interface Edit {
  file: string
  from: string
  to: string
}

export interface Planted {
  /** Completes "a test detects …". */
  what: string
  edits: readonly Edit[]
  /** The file and the name of the test that must fail. */
  file: string
  test: string
}

/** The test that runs processes in virtual time. */
export const seeds: [file: string, name: string] = [
  'test/virtual/processes.test.ts',
  'brain, fronts and workers keep their promises when processes pause and die and connections break',
]

/** The test that runs keepers in virtual time. */
export const keptSeeds: typeof seeds = [
  'test/virtual/keeper.test.ts',
  'keepers keep their promises when stores fail, processes die and another keeper takes over',
]

/** What runs more seeds of a test. */
export const seedRuns: Readonly<Record<string, string>> = {
  [seeds[0]]: 'test/virtual/main.ts',
  [keptSeeds[0]]: 'test/virtual/keeper/main.ts',
}

export type EditParts = [file: string, from: string, to: string]

/** `more`: edits without which other parts of the code would hide the mistake. */
export function planted(
  what: string,
  edit: EditParts,
  [file, test]: [file: string, name: string],
  ...more: EditParts[]
): Planted {
  const edits = [edit, ...more].map(([edited, from, to]) => ({ file: edited, from, to }))
  return { what, edits, file, test }
}

/** Undefined: the text occurs once. */
export function whyNotPlanted({ file, from }: Edit): string | undefined {
  const count = readFileSync(join(root, file), 'utf8').split(from).length - 1
  return count === 1 ? undefined : `${file} contains this text ${count} times: ${from}`
}

export interface Ran {
  code: number | null
  /** Names of tests that failed, and of tests that exceeded their time. */
  failed: string[]
  late: string[]
  output: string
}

/** A copy of the sources, in which one mistake at a time is planted. */
export class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'plimsoll-planted-'))

  constructor() {
    for (const part of ['src', 'test', 'workloads', 'package.json'])
      cpSync(join(root, part), join(this.folder, part), { recursive: true })
    // Caches of compiled code are the copy's own, and disappear with it.
    const packages = join(this.folder, 'node_modules')
    mkdirSync(packages)
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(packages, name))
    }
  }

  /** Runs the test of a planted bug, which is removed afterwards. */
  async run(bug: Planted, timeoutMs: number): Promise<Ran> {
    const { file, test } = bug
    return await this.with(bug, (folder) => run(folder, file, [test], timeoutMs))
  }

  /** Runs tests of a file without a planted bug. */
  async runUnchanged(file: string, tests: readonly string[], timeoutMs: number): Promise<Ran> {
    return await run(this.folder, file, tests, timeoutMs)
  }

  /** Calls back with the folder of the copy, in which the bug is planted meanwhile. */
  async with<T>({ edits }: Planted, then: (folder: string) => Promise<T>): Promise<T> {
    const paths = new Set(edits.map(({ file }) => join(this.folder, file)))
    const before = [...paths].map((path) => ({ path, text: readFileSync(path, 'utf8') }))
    try {
      for (const { file, from, to } of edits) {
        const path = join(this.folder, file)
        writeFileSync(
          path,
          readFileSync(path, 'utf8').replace(from, () => to),
        )
      }
      return await then(this.folder)
    } finally {
      for (const { path, text } of before) writeFileSync(path, text)
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function run(folder: string, file: string, tests: readonly string[], timeoutMs: number): Promise<Ran> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const names = tests.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = `^(${names.join('|')})$`
  const args = [
    '--test-reporter=tap',
    `--test-name-pattern=${pattern}`,
    `--test-timeout=${timeoutMs}`,
    '--test-force-exit',
  ]
  const child = spawn(process.execPath, [...args, join(folder, file)], { env, cwd: folder })
  const chunks: Buffer[] = []
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      const output = Buffer.concat(chunks).toString()
      const ended = [...output.matchAll(/^ *not ok \d+ - (.*)\n *---\n([\s\S]*?)\n *\.\.\.$/gm)]
      const isLate = ([, , details]: RegExpMatchArray) => details!.includes('testTimeoutFailure')
      const namesOf = (list: RegExpMatchArray[]) => list.map(([, name]) => name!)
      const failed = namesOf(ended.filter((each) => !isLate(each)))
      resolve({ code, failed, late: namesOf(ended.filter(isLate)), output })
    })
  })
}
