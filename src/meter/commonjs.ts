/**
 * Finds the functions with which a CommonJS module re-exports names. Node recognises them by their exact text when it
 * looks for importable names, so they must not be rewritten; they do no work.
 */
import type { AnyNode, CallExpression, Program } from 'acorn'
import { children, isFunction } from './tree.ts'

/** `Object.defineProperty(exports, 'a', { get: function () { return b.a } })`, `Object.keys(b).forEach(function …)` */
export function exportingFunctions(program: Program, source: string): ReadonlySet<AnyNode> {
  const found = new Set<AnyNode>()
  const textOf = ({ start, end }: AnyNode): string => source.slice(start, end)

  const check = (call: CallExpression): void => {
    const { callee, arguments: given } = call
    if (callee.type !== 'MemberExpression') return
    const name = textOf(callee.property)
    const [first, , descriptor] = given
    if (name === 'forEach' && first && isFunction(first)) {
      const copies = /^Object\s*\.\s*keys\b/.test(textOf(callee.object)) && /\bexports\b/.test(textOf(first))
      if (copies) found.add(first)
    }
    if (name !== 'defineProperty' || descriptor?.type !== 'ObjectExpression') return
    if (!/^(module\s*\.\s*)?exports$/.test(textOf(first!))) return
    for (const it of descriptor.properties) {
      if (it.type !== 'Property' || textOf(it.key) !== 'get') continue
      if (isFunction(it.value) && onlyReturns(it.value)) found.add(it.value)
    }
  }
  const walk = (node: AnyNode): void => {
    if (node.type === 'CallExpression') check(node)
    for (const part of children(node)) walk(part)
  }
  walk(program)
  return found
}

function onlyReturns({ body }: { body: AnyNode }): boolean {
  if (body.type !== 'BlockStatement') return false
  const [only, ...others] = body.body
  return only?.type === 'ReturnStatement' && others.length === 0
}
