/** The kept inputs of a target, and inputs that failed. */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const corpusFolder = join(import.meta.dirname, 'corpus')
/** Not in the repository. */
export const crashFolder = join(import.meta.dirname, 'crashes')

/** By name, so that a seed means the same inputs everywhere. */
export function corpusOf(target: string): { name: string; input: Buffer }[] {
  const folder = join(corpusFolder, target)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, input: readFileSync(join(folder, name)) }))
}

/** Adds an input; its name is its hash. */
export function keepInput(target: string, input: Buffer): void {
  write(join(corpusFolder, target), `found-${hashOf(input)}`, input)
}

/** Returns the path of the file. */
export function keepCrash(target: string, input: Buffer): string {
  return write(crashFolder, `${target}-${hashOf(input)}`, input)
}

function write(folder: string, name: string, input: Buffer): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, input)
  return path
}

function hashOf(input: Buffer): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 12)
}
