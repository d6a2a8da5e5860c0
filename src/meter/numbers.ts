/** Finds expressions that can only be numbers, from what can be seen without types. */
import type { AnyNode } from 'acorn'
import type { Binding, Scopes } from './scopes.ts'

const arithmetic = new Set(['-', '*', '/', '%', '**', '&', '|', '^', '<<', '>>'])

export function numberFinder(scopes: Scopes): (node: AnyNode) => boolean {
  const known = new Map<Binding, boolean>()

  const isNumber = (node: AnyNode): boolean => {
    switch (node.type) {
      case 'Literal':
        return typeof node.value === 'number'
      case 'Identifier': {
        const binding = scopes.bindingOf(node)
        return binding !== undefined && holdsNumbers(binding)
      }
      case 'UnaryExpression':
        return node.operator === '+' || (node.operator === '-' && isNumber(node.argument))
      case 'UpdateExpression':
        return isNumber(node.argument)
      case 'BinaryExpression':
        if (node.operator === '>>>') return true
        if (node.operator === '+') return isNumber(node.left) && isNumber(node.right)
        // With a BigInt on the other side it would throw.
        return arithmetic.has(node.operator) && (isNumber(node.left) || isNumber(node.right))
      case 'AssignmentExpression': {
        const operator = node.operator.slice(0, -1)
        if (operator === '') return isNumber(node.right)
        if (operator === '+') return isNumber(node.left) && isNumber(node.right)
        return (
          operator === '>>>' || (arithmetic.has(operator) && (isNumber(node.left) || isNumber(node.right)))
        )
      }
      case 'ConditionalExpression':
        return isNumber(node.consequent) && isNumber(node.alternate)
      case 'CallExpression':
        return isOfMath(node.callee)
      default:
        return false
    }
  }

  const isOfMath = (callee: AnyNode): boolean =>
    callee.type === 'MemberExpression' &&
    callee.object.type === 'Identifier' &&
    callee.object.name === 'Math' &&
    scopes.bindingOf(callee.object) === undefined

  const holdsNumbers = (binding: Binding): boolean => {
    const before = known.get(binding)
    if (before !== undefined) return before
    if (!binding.value || scopes.dynamic) return false
    // Taken for granted while its own writes are looked at: `i = i + 1` is a number if i was.
    known.set(binding, true)
    const holds =
      isNumber(binding.value) &&
      binding.uses.every(({ kind, value }) => kind !== 'write' || (value !== undefined && isNumber(value)))
    if (!holds) known.clear()
    known.set(binding, holds)
    return holds
  }
  return isNumber
}
