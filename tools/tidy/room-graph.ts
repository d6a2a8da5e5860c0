/** The graph of rooms as it is, in text and as a Mermaid diagram in ARCHITECTURE.md. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { roomOf } from './files.ts'
import { type Graph, graphOf, reduced } from './graph.ts'
import { type ImportEdge, withoutTests } from './imports.ts'
import type { Problem } from './problem.ts'

const page = 'ARCHITECTURE.md'
const begin = '<!-- rooms:begin -->'
const end = '<!-- rooms:end -->'

/** Test code does not count. */
export function roomGraph(paths: readonly string[], edges: readonly ImportEdge[]): Graph {
  const rooms = new Set(paths.flatMap((path) => roomOf(path) ?? []))
  const between = withoutTests(edges)
    .map(({ from, to }) => [roomOf(from), roomOf(to)] as const)
    .filter((edge): edge is [string, string] => edge[0] !== undefined && edge[1] !== undefined)
    .filter(([from, to]) => from !== to)
  return graphOf(between.toSorted(), [...rooms].sort())
}

export function textGraph(graph: Graph): string {
  const width = Math.max(0, ...[...graph.keys()].map((room) => room.length))
  return [...graph].map(([room, to]) => `${room.padEnd(width)}  → ${[...to].join(', ') || '–'}`).join('\n')
}

/** Imports that a longer path implies are left out, so that the picture can be read. */
export function mermaidGraph(graph: Graph): string {
  const lines = [...reduced(graph)].map(([room, to]) =>
    to.size > 0 ? `  ${room} --> ${[...to].join(' & ')}` : `  ${room}`,
  )
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n')
}

export function checkArchitecture(root: string, graph: Graph): Problem[] {
  const text = readPage(root)
  const block = findBlock(text)
  if (!block) return [{ file: page, line: 1, message: `must contain ${begin} and ${end}` }]
  if (text.slice(...block) === `\n${mermaidGraph(graph)}\n`) return []
  const line = text.slice(0, block[0]).split('\n').length
  return [
    { file: page, line, message: 'the diagram of rooms is out of date: run `npm run -s tidy -- --write`' },
  ]
}

/** Does nothing if the page lacks the marks; `checkArchitecture` reports that. */
export function writeArchitecture(root: string, graph: Graph): void {
  const text = readPage(root)
  const block = findBlock(text)
  if (!block) return
  const updated = `${text.slice(0, block[0])}\n${mermaidGraph(graph)}\n${text.slice(block[1])}`
  if (updated !== text) writeFileSync(join(root, page), updated)
}

const readPage = (root: string) =>
  existsSync(join(root, page)) ? readFileSync(join(root, page), 'utf8') : ''

function findBlock(text: string): [number, number] | undefined {
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  return from < 0 || to < from ? undefined : [from + begin.length, to]
}
