/** Numbers about the code's order. */

import { fileGraph } from './check-cycles.ts'
import { looseFiles } from './check-rooms.ts'
import { isTestCode, roomOf } from './files.ts'
import { cycles, type Graph, graphOf, reachable } from './graph.ts'
import type { ImportEdge } from './imports.ts'
import type { CodeFile } from './parse.ts'

export interface Figures {
  rooms: number
  files: number
  roomCycles: number
  fileCycles: number
  longestFile?: { file: string; lines: number }
  longestFunction?: { file: string; line: number; name: string; lines: number }
  looseFiles: number
  /** Without test code. */
  linesByRoom: Record<string, number>
  /** Source files that the package's exports and commands do not lead to. */
  unreached: string[]
}

export function figuresOf(
  files: readonly CodeFile[],
  edges: readonly ImportEdge[],
  rooms: Graph,
  entries: readonly string[],
): Figures {
  const paths = files.map(({ path }) => path)
  const source = files.filter(({ path }) => roomOf(path) !== undefined && !isTestCode(path))
  const [longestFile] = files.toSorted((a, b) => b.lines - a.lines)
  const [longestFunction] = files
    .flatMap(({ path: file, functions }) => functions.map((span) => ({ file, ...span })))
    .sort((a, b) => b.lines - a.lines)
  const reached = reachable(graphOf(edges.map(({ from, to }) => [from, to] as const)), entries)
  return {
    rooms: rooms.size,
    files: files.length,
    roomCycles: cycles(rooms).length,
    fileCycles: cycles(fileGraph(edges)).length,
    ...(longestFile && { longestFile: { file: longestFile.path, lines: longestFile.lines } }),
    ...(longestFunction && { longestFunction }),
    looseFiles: looseFiles(paths).length,
    linesByRoom: linesByRoom(source, rooms),
    unreached: source.map(({ path }) => path).filter((path) => !reached.has(path)),
  }
}

function linesByRoom(source: readonly CodeFile[], rooms: Graph): Record<string, number> {
  const lines = Object.fromEntries([...rooms.keys()].map((room) => [room, 0]))
  for (const file of source) lines[roomOf(file.path)!]! += file.lines
  return lines
}

/** One line for people. */
export function summary({ rooms, files, roomCycles, fileCycles, ...rest }: Figures): string {
  return [
    `tidy: ${rooms} rooms`,
    `${files} files`,
    `${roomCycles + fileCycles} cycles`,
    `longest file ${rest.longestFile?.lines ?? 0} lines`,
    `longest function ${rest.longestFunction?.lines ?? 0} lines`,
    `${rest.looseFiles} loose files`,
  ].join(', ')
}
