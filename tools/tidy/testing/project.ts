/** Small made-up projects in temporary folders. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { describe } from '../problem.ts'
import { type Rules, tidy } from '../tidy.ts'

export type Contents = Record<string, string>

/** Writes the files into a folder that is removed after the test. */
export function project(t: TestContext, contents: Contents): string {
  const root = mkdtempSync(join(tmpdir(), 'tidy-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return root
}

/** The problems of such a project, without those of its diagram. */
export function problemsOf(t: TestContext, contents: Contents, rules: Partial<Rules> = {}): string[] {
  const all = { rooms: {}, exceptions: [], phrases: [], ...rules }
  return tidy(project(t, contents), all)
    .problems.filter(({ file, message }) => file !== 'ARCHITECTURE.md' || message.startsWith('"'))
    .map(describe)
}
