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
  edit: Edit
  /** The file and the name of the test that must fail. */
  file: string
  test: string
}

/** The test that runs processes in virtual time. */
export const seeds: [file: string, name: string] = [
  'test/virtual/processes.test.ts',
  'brain, fronts and workers keep their promises when processes pause and die and connections break',
]

export function planted(
  what: string,
  [edited, from, to]: [file: string, from: string, to: string],
  [file, test]: [file: string, name: string],
): Planted {
  return { what, edit: { file: edited, from, to }, file, test }
}

/** Undefined: the text occurs once. */
export function whyNotPlanted({ file, from }: Edit): string | undefined {
  const count = readFileSync(join(root, file), 'utf8').split(from).length - 1
  return count === 1 ? undefined : `${file} contains this text ${count} times: ${from}`
}

export interface Ran {
  code: number | null
  /** Names of tests that failed. */
  failed: string[]
  output: string
}

/** A copy of the sources, in which one mistake at a time is planted. */
export class Copy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'plimsoll-planted-'))

  constructor() {
    for (const part of ['src', 'test', 'workloads', 'package.json'])
      cpSync(join(root, part), join(this.#folder, part), { recursive: true })
    // Caches of compiled code are the copy's own, and disappear with it.
    const packages = join(this.#folder, 'node_modules')
    mkdirSync(packages)
    for (const name of readdirSync(join(root, 'node_modules'))) {
      if (name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(packages, name))
    }
  }

  /** Runs the test of a planted bug, which is removed afterwards. */
  async run({ edit, file, test }: Planted, timeoutMs: number): Promise<Ran> {
    const path = join(this.#folder, edit.file)
    const before = readFileSync(path, 'utf8')
    try {
      writeFileSync(
        path,
        before.replace(edit.from, () => edit.to),
      )
      return await run(this.#folder, file, test, timeoutMs)
    } finally {
      writeFileSync(path, before)
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function run(folder: string, file: string, test: string, timeoutMs: number): Promise<Ran> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const pattern = `^${test.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`
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
      const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name!)
      resolve({ code, failed, output })
    })
  })
}
