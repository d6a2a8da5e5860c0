/** Rooms import only what the table allows, and source code imports no test code. */

import { isTestCode, roomOf } from './files.ts'
import { cycles, graphOf } from './graph.ts'
import type { ImportEdge } from './imports.ts'
import type { Problem } from './problem.ts'

export type RoomTable = Readonly<Record<string, readonly string[]>>

const tableFile = 'tools/tidy/rooms.ts'
const mostLooseFiles = 3

export function checkTable(table: RoomTable): Problem[] {
  const edges = Object.entries(table).flatMap(([room, allowed]) => allowed.map((to) => [room, to] as const))
  return cycles(graphOf(edges)).map(({ shortest }) => ({
    file: tableFile,
    line: 1,
    message: `the table of rooms has a cycle: ${shortest.join(' → ')}`,
  }))
}

/** Rooms without a line in the table, and lines without a room. */
export function checkRoomNames(paths: readonly string[], table: RoomTable): Problem[] {
  const found = new Map<string, string>()
  for (const path of paths) {
    const room = roomOf(path)
    if (room !== undefined && !found.has(room)) found.set(room, path)
  }
  const missing = [...found].filter(([room]) => !Object.hasOwn(table, room))
  const unused = Object.keys(table).filter((room) => !found.has(room))
  return [
    ...missing.map(([room, file]) => ({
      file,
      line: 1,
      message: `room ${room} is not in the table (${tableFile})`,
    })),
    ...unused.map((room) => ({
      file: tableFile,
      line: 1,
      message: `room ${room} has no files in src/${room}/`,
    })),
  ]
}

export function checkRoomImports(edges: readonly ImportEdge[], table: RoomTable): Problem[] {
  return edges
    .filter(({ from, kind }) => kind === 'import' && roomOf(from) !== undefined && !isTestCode(from))
    .flatMap((edge) => {
      const reason = whyForbidden(edge, table)
      return reason === undefined ? [] : [{ file: edge.from, line: edge.line, message: reason }]
    })
}

function whyForbidden({ from, to }: ImportEdge, table: RoomTable): string | undefined {
  if (isTestCode(to)) return `imports test code: ${to}`
  const room = roomOf(from)!
  const target = roomOf(to)
  if (target === undefined) return `imports ${to}: src/ may import only from src/`
  const allowed = table[room]
  if (room === target || allowed === undefined || allowed.includes(target)) return undefined
  return `${room} may not import ${target} (${to}); allowed: ${allowed.join(', ') || 'nothing'}`
}

export function looseFiles(paths: readonly string[]): string[] {
  return paths.filter((path) => roomOf(path) === 'index')
}

export function checkLooseFiles(paths: readonly string[]): Problem[] {
  const loose = looseFiles(paths)
  if (loose.length <= mostLooseFiles) return []
  const message = `${loose.length} files directly in src/, at most ${mostLooseFiles} are allowed: ${loose.join(', ')}`
  return [{ file: 'src', line: 1, message }]
}
