/** Queries on the syntax tree that all parts of the meter use. */
import type { AnyNode, ArrowFunctionExpression, FunctionDeclaration, FunctionExpression } from 'acorn'

export type Fn = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression
export type Loop = Extract<
  AnyNode,
  { type: 'ForStatement' | 'WhileStatement' | 'DoWhileStatement' | 'ForOfStatement' | 'ForInStatement' }
>

export function isFunction(node: AnyNode): node is Fn {
  return (
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression'
  )
}

export function isLoop(node: AnyNode): node is Loop {
  return (
    node.type === 'ForStatement' ||
    node.type === 'WhileStatement' ||
    node.type === 'DoWhileStatement' ||
    node.type === 'ForOfStatement' ||
    node.type === 'ForInStatement'
  )
}

/** The child nodes, without labels and the names of members. */
export function children(node: AnyNode): readonly AnyNode[] {
  const known = knownChildren.get(node)
  if (known) return known
  const found = findChildren(node)
  knownChildren.set(node, found)
  return found
}

/** A cache, because all parts of the meter traverse the tree. */
const knownChildren = new WeakMap<AnyNode, readonly AnyNode[]>()

function findChildren(node: AnyNode): AnyNode[] {
  const found: AnyNode[] = []
  const { computed } = node as { computed?: boolean }
  for (const [name, value] of Object.entries(node) as [string, unknown][]) {
    if (name === 'label' || ((name === 'property' || name === 'key') && !computed)) continue
    if (Array.isArray(value)) {
      for (const part of value) if (isNode(part)) found.push(part)
    } else if (isNode(value)) found.push(value)
  }
  return found
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as AnyNode).type === 'string'
}

/** Whether `found` holds for the node or one of its descendants, not descending into functions. */
export function contains(node: AnyNode, found: (node: AnyNode) => boolean): boolean {
  if (found(node)) return true
  return children(node).some((part) => !isFunction(part) && contains(part, found))
}

/** Whether execution may be suspended inside the node. */
export function suspends(node: AnyNode): boolean {
  return contains(
    node,
    (it) =>
      it.type === 'AwaitExpression' ||
      it.type === 'YieldExpression' ||
      (it.type === 'ForOfStatement' && it.await === true),
  )
}

/** Whether the node contains code that may run at another time: functions or classes. */
export function hasClosure(node: AnyNode): boolean {
  return children(node).some((part) => isFunction(part) || part.type === 'ClassBody' || hasClosure(part))
}

/** The variables that a pattern binds or assigns. */
export function namesIn(pattern: AnyNode): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ObjectPattern':
      return pattern.properties.flatMap((it) => namesIn(it.type === 'RestElement' ? it.argument : it.value))
    case 'ArrayPattern':
      return pattern.elements.flatMap((it) => (it ? namesIn(it) : []))
    case 'AssignmentPattern':
      return namesIn(pattern.left)
    case 'RestElement':
      return namesIn(pattern.argument)
    default:
      return []
  }
}
