/** Walks a parsed program: the few questions about syntax that all parts of the meter ask. */
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

/** The parts of a node, without those that are mere names: of members, of labels. */
export function children(node: AnyNode): readonly AnyNode[] {
  const known = knownChildren.get(node)
  if (known) return known
  const found = findChildren(node)
  knownChildren.set(node, found)
  return found
}

/** All parts of the meter ask for them, again and again. */
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

/** True if `found` holds for the node or for a part of it; functions inside are not looked into. */
export function contains(node: AnyNode, found: (node: AnyNode) => boolean): boolean {
  if (found(node)) return true
  return children(node).some((part) => !isFunction(part) && contains(part, found))
}

/** True if it may be left in the middle, to go on later or never. */
export function suspends(node: AnyNode): boolean {
  return contains(
    node,
    (it) =>
      it.type === 'AwaitExpression' ||
      it.type === 'YieldExpression' ||
      (it.type === 'ForOfStatement' && it.await === true),
  )
}

/** All that a function or block does at other times: functions, and classes with theirs. */
export function hasClosure(node: AnyNode): boolean {
  return children(node).some((part) => isFunction(part) || part.type === 'ClassBody' || hasClosure(part))
}

/** The names that a pattern binds or assigns; members that it assigns have none. */
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
