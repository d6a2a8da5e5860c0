/**
 * Finds the functions by which a CommonJS module hands on what others export. Node knows them by their exact text when
 * it looks for the names that can be imported, so they must stay as they are; there is no work in them.
 */
import type { AnyNode, CallExpression } from 'acorn'
import type { Edits } from './edits.ts'
import { isFunction } from './tree.ts'

/** `Object.defineProperty(exports, 'a', { get: function () { return b.a } })`, `Object.keys(b).forEach(function …)` */
export function exportingFunctions({ callee, arguments: given }: CallExpression, edits: Edits): AnyNode[] {
  if (callee.type !== 'MemberExpression') return []
  const textOf = ({ start, end }: AnyNode) => edits.text(start, end)
  const name = textOf(callee.property)
  if (name === 'forEach') {
    const [fn] = given
    const copies = /^Object\s*\.\s*keys\b/.test(textOf(callee.object)) && fn && isFunction(fn)
    return copies && /\bexports\b/.test(textOf(fn)) ? [fn] : []
  }
  const [target, , descriptor] = given
  if (name !== 'defineProperty' || descriptor?.type !== 'ObjectExpression') return []
  if (!/^(module\s*\.\s*)?exports$/.test(textOf(target!))) return []
  return descriptor.properties.flatMap((it) =>
    it.type === 'Property' && textOf(it.key) === 'get' && isFunction(it.value) && onlyReturns(it.value)
      ? [it.value]
      : [],
  )
}

function onlyReturns({ body }: { body: AnyNode }): boolean {
  if (body.type !== 'BlockStatement') return false
  const [only, ...others] = body.body
  return only?.type === 'ReturnStatement' && others.length === 0
}
