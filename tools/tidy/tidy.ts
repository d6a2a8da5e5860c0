/** Runs all checks on a project. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkFileCycles } from './check-cycles.ts'
import { applyExceptions } from './check-exceptions.ts'
import { checkPhrases } from './check-phrases.ts'
import {
  checkLooseFiles,
  checkRoomImports,
  checkRoomNames,
  checkTable,
  type RoomTable,
} from './check-rooms.ts'
import { checkSizes } from './check-sizes.ts'
import type { Exception } from './exceptions.ts'
import { type Figures, figuresOf } from './figures.ts'
import { codeFiles, markdownFiles } from './files.ts'
import type { Graph } from './graph.ts'
import { importEdges, readPackage } from './imports.ts'
import { parseCode } from './parse.ts'
import type { Phrase } from './phrases.ts'
import type { Problem } from './problem.ts'
import { checkArchitecture, roomGraph, writeArchitecture } from './room-graph.ts'

export interface Rules {
  rooms: RoomTable
  exceptions: readonly Exception[]
  phrases: readonly Phrase[]
}

export interface Findings {
  problems: Problem[]
  figures: Figures
  rooms: Graph
}

/** `write`: the diagram in ARCHITECTURE.md is updated before it is checked. */
export function tidy(root: string, rules: Rules, { write = false } = {}): Findings {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const paths = codeFiles(root)
  const files = paths.map((path) => parseCode(path, read(path)))
  const pages = markdownFiles(root).map((path) => ({ path, prose: read(path) }))
  const manifest = readPackage(root)
  const edges = importEdges(files, manifest)
  const rooms = roomGraph(paths, edges)
  if (write) writeArchitecture(root, rooms)
  const problems = [
    ...checkTable(rules.rooms),
    ...checkRoomNames(paths, rules.rooms),
    ...checkRoomImports(edges, rules.rooms),
    ...checkLooseFiles(paths),
    ...checkFileCycles(edges),
    ...checkArchitecture(root, rooms),
    ...applyExceptions(
      [...checkSizes(files), ...checkPhrases([...files, ...pages], rules.phrases)],
      rules.exceptions,
    ),
  ]
  return { problems, figures: figuresOf(files, edges, rooms, manifest.entries), rooms }
}
