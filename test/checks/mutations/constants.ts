/** The constants of the five systems: the numeric literals of their presets, policies and workloads. */

import { globSync, readFileSync } from 'node:fs'
import { parse } from '@babel/parser'
import { exempt } from './exempt.ts'
import { isDocumented } from './zeros-and-ones.ts'

export const systems = ['cloudprime', 'tiered', 'cnv', 'hillclimbing', 'ecowork'] as const
export type System = (typeof systems)[number]

export interface Constant {
  system: System
  file: string
  line: number
  start: number
  end: number
  value: number
  /** The line of source, for people. */
  source: string
}

/** A syntax tree, as far as it is read here. */
interface Node {
  type: string
  start: number
  end: number
  loc: { start: { line: number } }
  [part: string]: unknown
}

/** Constants of a system outside its folder. `source`: the lines that have them. */
const elsewhere: readonly { system: System; file: string; source: RegExp }[] = [
  { system: 'cloudprime', file: 'src/systems/preset.ts', source: /./ },
  { system: 'tiered', file: 'workloads/shop.ts', source: /^cacheMs:/ },
]

export function constantsOf(system: System): Constant[] {
  const files = globSync(`src/systems/${system}/*.ts`).filter((file) => !file.endsWith('.test.ts'))
  return [
    ...files.toSorted().flatMap((file) => constantsIn(system, file, readFileSync(file, 'utf8'))),
    ...elsewhere
      .filter((each) => each.system === system)
      .flatMap(({ file, source }) =>
        constantsIn(system, file, readFileSync(file, 'utf8')).filter((constant) =>
          source.test(constant.source),
        ),
      ),
  ]
}

/**
 * In a preset, all numbers. In a policy, all but 0 and 1 in functions and classes: only a few of those are constants of
 * a document.
 */
export function constantsIn(system: System, file: string, source: string): Constant[] {
  const isPreset = file.endsWith('/preset.ts')
  const lines = source.split('\n')
  const found: Constant[] = []
  const walk = (node: Node, inCode: boolean) => {
    if (node.type.startsWith('TS') && !valued.has(node.type)) return
    if (node.type === 'NumericLiteral') {
      const value = node.value as number
      const { line } = node.loc.start
      const text = lines[line - 1]!.trim()
      const constant = { system, file, line, start: node.start, end: node.end, value, source: text }
      const mayCount = !isPreset && inCode && (value === 0 || value === 1)
      if (!exempt(constant) && (!mayCount || isDocumented(constant))) found.push(constant)
      return
    }
    for (const child of childrenOf(node)) walk(child, inCode || isCode(node))
  }
  const tree = parse(source, { sourceType: 'module', plugins: ['typescript'] })
  walk(tree.program as unknown as Node, false)
  return found
}

/** Nodes of TypeScript that have a value; the others are types. */
const valued = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])

const isCode = ({ type }: Node) => /Function|Class|ObjectMethod/.test(type)

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode)
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' && value !== null && typeof (value as Node).type === 'string' && 'loc' in value
  )
}

/** Two wrong values: one too large, one too small. */
export function wrongValues(value: number): number[] {
  if (value === 0) return [1]
  if (!Number.isInteger(value)) return [value * 2, value / 2]
  if (value < 4) return [value + 1, value - 1]
  return [value * 2, Math.floor(value / 2)]
}
