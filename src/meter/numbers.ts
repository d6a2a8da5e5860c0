/** Finds expressions that can only be numbers, without type information. */
import type { AnyNode } from 'acorn'
import type { Binding } from './bindings.ts'
import type { Scopes } from './scopes.ts'

/** A number may be NaN, infinite or a fraction; a whole number may not. */
type Kind = 'number' | 'whole'

const arithmetic = new Set(['-', '*', '/', '%', '**'])
const bitwise = new Set(['&', '|', '^', '<<', '>>'])

export interface Numbers {
  isNumber(node: AnyNode): boolean
  isWhole(node: AnyNode): boolean
}

export function findNumbers(scopes: Scopes): Numbers {
  const known = { number: new Map<Binding, boolean>(), whole: new Map<Binding, boolean>() }

  const is = (kind: Kind, node: AnyNode): boolean => {
    switch (node.type) {
      case 'Literal':
        return kind === 'number' ? typeof node.value === 'number' : Number.isInteger(node.value)
      case 'Identifier': {
        const binding = scopes.bindingOf(node)
        return binding !== undefined && holds(kind, binding)
      }
      case 'UnaryExpression':
        if (node.operator === '+') return kind === 'number' || is(kind, node.argument)
        return node.operator === '-' && is(kind, node.argument)
      case 'UpdateExpression':
        return is(kind, node.argument)
      case 'BinaryExpression':
        return isResult(kind, node.operator, node.left, node.right)
      case 'AssignmentExpression':
        if (node.operator === '=') return is(kind, node.right)
        return isResult(kind, node.operator.slice(0, -1), node.left, node.right)
      case 'ConditionalExpression':
        return is(kind, node.consequent) && is(kind, node.alternate)
      case 'CallExpression':
        return kind === 'number' && isOfMath(node.callee)
      default:
        return false
    }
  }

  const isResult = (kind: Kind, operator: string, left: AnyNode, right: AnyNode): boolean => {
    if (operator === '>>>') return true
    // Mixed with a BigInt it would throw.
    if (bitwise.has(operator)) return is('number', left) || is('number', right)
    if (operator === '+') return is(kind, left) && is(kind, right)
    if (kind === 'whole') return (operator === '-' || operator === '*') && is(kind, left) && is(kind, right)
    return arithmetic.has(operator) && (is(kind, left) || is(kind, right))
  }

  const isOfMath = (callee: AnyNode): boolean =>
    callee.type === 'MemberExpression' &&
    callee.object.type === 'Identifier' &&
    callee.object.name === 'Math' &&
    scopes.bindingOf(callee.object) === undefined

  const holds = (kind: Kind, binding: Binding): boolean => {
    const before = known[kind].get(binding)
    if (before !== undefined) return before
    // A `var` is initially undefined, and a parameter may have any value.
    if (scopes.dynamic || !binding.value || (binding.kind !== 'let' && binding.kind !== 'const')) return false
    // Assumed while its own writes are examined: `i = i + 1` is a number if i was one.
    known[kind].set(binding, true)
    const sure =
      is(kind, binding.value) &&
      binding.uses.every(
        ({ kind: use, value }) => use !== 'write' || (value !== undefined && is(kind, value)),
      )
    // Conclusions drawn from a wrong assumption are discarded.
    if (!sure) known[kind].clear()
    known[kind].set(binding, sure)
    return sure
  }

  return { isNumber: (node) => is('number', node), isWhole: (node) => is('whole', node) }
}
