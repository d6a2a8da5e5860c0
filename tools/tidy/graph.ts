/** Directed graphs of names. */

export type Graph = ReadonlyMap<string, ReadonlySet<string>>

export function graphOf(edges: Iterable<readonly [string, string]>, nodes: Iterable<string> = []): Graph {
  const graph = new Map<string, Set<string>>()
  for (const node of nodes) graph.set(node, new Set())
  for (const [from, to] of edges) {
    if (!graph.has(from)) graph.set(from, new Set())
    if (!graph.has(to)) graph.set(to, new Set())
    graph.get(from)!.add(to)
  }
  return graph
}

/** The shortest cycle of each strongly connected component that has one, with its first node repeated at the end. */
export function cycles(graph: Graph): { nodes: string[]; shortest: string[] }[] {
  return components(graph)
    .filter((nodes) => nodes.length > 1)
    .map((nodes) => ({ nodes, shortest: shortestCycle(graph, nodes) }))
}

/** Tarjan's strongly connected components. */
function components(graph: Graph): string[][] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const open: string[] = []
  const found: string[][] = []
  const visit = (node: string) => {
    index.set(node, index.size)
    low.set(node, index.get(node)!)
    open.push(node)
    for (const next of graph.get(node)!) {
      if (!index.has(next)) visit(next)
      if (open.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!))
    }
    if (low.get(node) === index.get(node)) found.push(open.splice(open.indexOf(node)))
  }
  for (const node of graph.keys()) if (!index.has(node)) visit(node)
  return found
}

function shortestCycle(graph: Graph, component: string[]): string[] {
  let best: string[] | undefined
  for (const node of component.toSorted()) {
    const path = shortestPath(graph, node, node)
    if (path && (!best || path.length < best.length)) best = path
  }
  return best!
}

function shortestPath(graph: Graph, from: string, to: string): string[] | undefined {
  const before = new Map<string, string>()
  const queue = [from]
  for (const node of queue) {
    for (const next of graph.get(node)!) {
      if (before.has(next)) continue
      before.set(next, node)
      if (next === to) return trace(before, from, to)
      queue.push(next)
    }
  }
  return undefined
}

function trace(before: ReadonlyMap<string, string>, from: string, to: string): string[] {
  const path = [to]
  do path.unshift(before.get(path[0]!)!)
  while (path[0] !== from)
  return path
}

/** The nodes in `from` and all that they lead to. */
export function reachable(graph: Graph, from: Iterable<string>): Set<string> {
  const seen = new Set(from)
  for (const node of seen) for (const next of graph.get(node) ?? []) seen.add(next)
  return seen
}

/** Drops each edge that a longer path implies. A graph with cycles is returned unchanged. */
export function reduced(graph: Graph): Graph {
  if (cycles(graph).length > 0) return graph
  const edges: [string, string][] = []
  for (const [node, targets] of graph) {
    const implied = new Set([...targets].flatMap((next) => [...reachable(graph, graph.get(next)!)]))
    for (const next of targets) if (!implied.has(next)) edges.push([node, next])
  }
  return graphOf(edges, graph.keys())
}
