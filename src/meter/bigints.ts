/** Finds expressions that are BigInts without type information: literals, `BigInt(…)`, and operations on them. */
import type { AnyNode, Program } from 'acorn'
import type { Binding } from './bindings.ts'
import type { Scopes } from './scopes.ts'
import { children } from './tree.ts'

const arithmetic = new Set(['+', '-', '*', '/', '%', '**', '&', '|', '^', '<<', '>>'])

export function findBigInts(program: Program, source: string, scopes: Scopes): (node: AnyNode) => boolean {
  if (!/\dn\b|\bBigInt\b/.test(source)) return () => false
  const known = new Set<Binding>()
  const isBig = (node: AnyNode): boolean => {
    switch (node.type) {
      case 'Literal':
        return typeof node.bigint === 'string'
      case 'Identifier': {
        const binding = scopes.bindingOf(node)
        return binding !== undefined && known.has(binding)
      }
      case 'CallExpression':
        return node.callee.type === 'Identifier' && node.callee.name === 'BigInt'
      case 'BinaryExpression':
        // Numbers and BigInts cannot be mixed, so one BigInt operand implies the other.
        return arithmetic.has(node.operator) && (isBig(node.left) || isBig(node.right))
      case 'UnaryExpression':
        return node.operator === '-' && isBig(node.argument)
      case 'UpdateExpression':
        return isBig(node.argument)
      case 'AssignmentExpression':
        return isBig(node.right) || (node.operator !== '=' && isBig(node.left))
      case 'ConditionalExpression':
        return isBig(node.consequent) || isBig(node.alternate)
      default:
        return false
    }
  }
  let before = -1
  const learn = (target: AnyNode, value: AnyNode | null | undefined): void => {
    if (target.type !== 'Identifier' || !value || !isBig(value)) return
    const binding = scopes.bindingOf(target)
    if (binding) known.add(binding)
  }
  const walk = (node: AnyNode): void => {
    if (node.type === 'AssignmentExpression') learn(node.left, node)
    else if (node.type === 'BinaryExpression' && arithmetic.has(node.operator)) {
      // `text + 1n` is a string, so plus proves nothing about the other operand.
      if (node.operator !== '+') {
        learn(node.left, node.right)
        learn(node.right, node.left)
      }
    }
    for (const part of children(node)) walk(part)
  }
  while (known.size !== before) {
    before = known.size
    for (const binding of scopes.bindings) if (binding.value && isBig(binding.value)) known.add(binding)
    walk(program)
  }
  return isBig
}
