/** No file imports itself by way of others. Types count, test code does not. */

import { cycles, type Graph, graphOf } from './graph.ts'
import { type ImportEdge, withoutTests } from './imports.ts'
import type { Problem } from './problem.ts'

export function fileGraph(edges: readonly ImportEdge[]): Graph {
  return graphOf(withoutTests(edges).map(({ from, to }) => [from, to] as const))
}

export function checkFileCycles(edges: readonly ImportEdge[]): Problem[] {
  return cycles(fileGraph(edges)).map(({ nodes, shortest }) => {
    const [file, next] = shortest as [string, string]
    const { line } = withoutTests(edges).find(({ from, to }) => from === file && to === next)!
    return {
      file,
      line,
      message: `import cycle (${nodes.length} files are connected): ${shortest.join(' → ')}`,
    }
  })
}
