/** Self times in a CPU profile of V8. */

interface Node {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: readonly number[]
}

export interface Profile {
  nodes: readonly Node[]
  samples: readonly number[]
  timeDeltas: readonly number[]
}

export interface SelfTime {
  /** A file of Plimsoll, a module of Node, a package, or a native function. */
  file: string
  /** Function, file and line. */
  function: string
  /** The nearest function of Plimsoll on the stack, which pays for what Node and native code do for it. */
  caller: string
  us: number
}

/** Idle time, and the profiler itself. */
const leftOut = /^\(idle\)$|^node:inspector$|profiler\.mjs/
const project = /^(?:src|bench|workloads)\//

/** By function. */
export function selfTimes({ nodes, samples, timeDeltas }: Profile): SelfTime[] {
  const usOf = new Map<number, number>()
  // A sample stands for the time since the one before it.
  for (const [i, id] of samples.entries()) usOf.set(id, (usOf.get(id) ?? 0) + Math.max(0, timeDeltas[i]!))
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node])))
  return nodes
    .filter(({ id }) => usOf.has(id))
    .map((node) => ({ ...placeOf(node), caller: callerOf(node, parents), us: usOf.get(node.id)! }))
    .filter(({ file, caller }) => !leftOut.test(file) && !leftOut.test(caller))
}

function placeOf({ callFrame: { functionName, url, lineNumber } }: Node): { file: string; function: string } {
  const file = url === '' ? functionName || '(native)' : shortName(url)
  const name = functionName || '(anonymous)'
  return { file, function: url === '' ? file : `${name} ${file}:${lineNumber + 1}` }
}

function callerOf(node: Node, parents: ReadonlyMap<number, Node>): string {
  for (let at: Node | undefined = node; at; at = parents.get(at.id)) {
    const place = placeOf(at)
    if (project.test(place.file)) return place.function
  }
  const { functionName } = node.callFrame
  return functionName.startsWith('(') ? functionName : '(Node without a caller in Plimsoll)'
}

function shortName(url: string): string {
  const path = url.replace(/\?.*$/, '')
  const inPackage = /\/node_modules\/(.*)$/.exec(path)?.[1]
  return inPackage ?? /\/((?:src|bench|workloads)\/(?!.*\/src\/).*)$/.exec(path)?.[1] ?? path
}
