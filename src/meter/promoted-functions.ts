/**
 * Finds functions that are only called by name. Their callers count their first region together with the call, so that
 * a small function in a hot loop needs no counter.
 */
import type { AnyNode } from 'acorn'
import type { Scopes } from './scopes.ts'
import { contains, type Fn, isFunction } from './tree.ts'

/** Callees come before their callers. Recursive functions are left out. */
export function promotedFunctions(functions: readonly Fn[], scopes: Scopes): Fn[] {
  if (scopes.dynamic) return []
  const candidates = new Set<Fn>()
  const known = new Set<AnyNode>(functions)
  for (const { kind, value, uses } of scopes.bindings) {
    if (!value || !known.has(value) || !isFunction(value) || value.async || value.generator) continue
    if (!['function', 'const', 'let', 'var'].includes(kind)) continue
    if (uses.every((use) => use.kind === 'call' || use.value === value)) candidates.add(value)
  }
  const order: Fn[] = []
  const state = new Map<Fn, 'open' | 'done' | 'circular'>()
  const visit = (fn: Fn): void => {
    state.set(fn, 'open')
    let circular = false
    for (const callee of calleesOf(fn, scopes)) {
      if (!candidates.has(callee)) continue
      if (!state.has(callee)) visit(callee)
      if (state.get(callee) === 'open') circular = true
    }
    state.set(fn, circular ? 'circular' : 'done')
    if (!circular) order.push(fn)
  }
  for (const fn of candidates) if (!state.has(fn)) visit(fn)
  return order
}

function calleesOf(fn: Fn, scopes: Scopes): Fn[] {
  const found: Fn[] = []
  const collect = (node: AnyNode): boolean => {
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier') {
      const value = scopes.bindingOf(node.callee)?.value
      if (value && isFunction(value)) found.push(value)
    }
    return false
  }
  for (const part of [...fn.params, fn.body]) contains(part, collect)
  return found
}
