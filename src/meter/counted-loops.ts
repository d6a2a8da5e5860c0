/**
 * Finds loops whose number of turns can be derived from a variable after the loop, so that they need no counter inside:
 * `for (let i = a; …; i++)` and the equivalent `while`.
 */
import type { AnyNode, Expression, Identifier } from 'acorn'
import type { Binding } from './bindings.ts'
import { findNumbers } from './numbers.ts'
import type { Scopes } from './scopes.ts'
import { children, contains, type Fn, hasClosure, isFunction, isLoop, type Loop } from './tree.ts'

export interface Counted {
  readonly name: string
  /** Added to the variable in each turn; an integer other than 0. */
  readonly step: number
  /** False if the variable is a number that may be a fraction, infinite or NaN. */
  readonly whole: boolean
  /** Set if the test is `variable operator bound` and the bound is constant while the loop runs. */
  readonly bound?: { readonly operator: string; readonly node: Expression }
  /** End of the statement in the body that updates the variable; undefined if the update follows the body. */
  readonly updateEnd?: number
  /** The number of turns, if the source determines it. */
  readonly turns?: number
}

export function countedLoop(loop: Loop, fn: Fn, scopes: Scopes): Counted | undefined {
  if (scopes.dynamic) return undefined
  if (loop.type === 'ForStatement') return countedFor(loop, fn, scopes)
  return loop.type === 'WhileStatement' ? countedWhile(loop, fn, scopes) : undefined
}

function countedFor(
  loop: Extract<Loop, { type: 'ForStatement' }>,
  fn: Fn,
  scopes: Scopes,
): Counted | undefined {
  const { init, test, update, body } = loop
  if (!update || !test) return undefined
  const updates = update.type === 'SequenceExpression' ? update.expressions : [update]
  const declaresHere = init?.type === 'VariableDeclaration' && init.kind !== 'var'
  // Each turn has its own variable, which a closure could observe.
  if (declaresHere && hasClosure(loop)) return undefined
  for (const candidate of updates) {
    const stepped = stepOf(candidate, scopes)
    const binding = stepped && scopes.bindingOf(stepped.variable)
    if (!binding || !isOwn(binding, fn)) continue
    if (binding.declaredAt > (init && declaresHere ? init.end : loop.start)) continue
    const writes = binding.uses.filter((use) => use.kind === 'write')
    const inside = writes.filter(({ node }) => node.start >= test.start && node.start < body.end)
    if (inside.length !== 1 || inside[0]!.node !== stepped.variable) continue
    const before = writes.filter(({ node }) => node.start >= loop.start && node.start < test.start)
    const start = before.length <= (declaresHere ? 0 : 1) ? startOf(init, binding) : undefined
    const bound = boundOf(test, binding, stepped.step, loop, fn, scopes)
    const numbers = findNumbers(scopes)
    // The variable might be a BigInt, a string or an object.
    if (start === undefined && !numbers.isNumber(stepped.variable)) continue
    const limit = bound && numberOf(bound.node, scopes)
    const only = updates.length === 1 && start !== undefined && limit !== undefined && !canLeave(loop)
    const turns = only ? turnsOf(start, bound!.operator, limit, stepped.step) : undefined
    return {
      name: binding.name,
      step: stepped.step,
      whole: start !== undefined || numbers.isWhole(stepped.variable),
      ...(bound && { bound }),
      ...(turns !== undefined && { turns }),
    }
  }
  return undefined
}

function countedWhile(
  loop: Extract<Loop, { type: 'WhileStatement' }>,
  fn: Fn,
  scopes: Scopes,
): Counted | undefined {
  const { test, body } = loop
  if (contains(body, (node) => node.type === 'ContinueStatement')) return undefined
  for (const statement of body.type === 'BlockStatement' ? body.body : [body]) {
    if (statement.type !== 'ExpressionStatement') continue
    const stepped = stepOf(statement.expression, scopes)
    const binding = stepped && scopes.bindingOf(stepped.variable)
    // A variable declared inside the loop is a new one in each turn.
    if (!binding || !isOwn(binding, fn) || binding.declaredAt > loop.start) continue
    const inside = binding.uses.filter(
      ({ kind, node }) => kind === 'write' && node.start >= test.start && node.start < body.end,
    )
    if (inside.length !== 1 || inside[0]!.node !== stepped.variable) continue
    if (!findNumbers(scopes).isWhole(stepped.variable)) continue
    return { name: binding.name, step: stepped.step, whole: true, updateEnd: statement.end }
  }
  return undefined
}

/** Recognises `i++`, `--i`, `i += 2` and so on. */
function stepOf(node: AnyNode, scopes: Scopes): { variable: Identifier; step: number } | undefined {
  if (node.type === 'UpdateExpression' && node.argument.type === 'Identifier') {
    return { variable: node.argument, step: node.operator === '++' ? 1 : -1 }
  }
  if (node.type !== 'AssignmentExpression' || node.left.type !== 'Identifier') return undefined
  const { operator, right } = node
  if (operator !== '+=' && operator !== '-=') return undefined
  const amount = numberOf(right, scopes)
  if (amount === undefined || amount < 1 || amount > 65536) return undefined
  return { variable: node.left, step: operator === '+=' ? amount : -amount }
}

/** A variable of this function that no other code can write. */
function isOwn(binding: Binding, fn: Fn): boolean {
  if (binding.owner !== fn || binding.uses.some(({ kind, by }) => kind === 'write' && by !== fn)) return false
  // In sloppy code `arguments` is an alias of the parameters.
  return binding.kind !== 'parameter' || !hasArguments(fn.body)
}

/** Arrow functions share `arguments` with the enclosing function. */
function hasArguments(node: AnyNode): boolean {
  if (node.type === 'Identifier' && node.name === 'arguments') return true
  return children(node).some(
    (part) => (!isFunction(part) || part.type === 'ArrowFunctionExpression') && hasArguments(part),
  )
}

function startOf(init: AnyNode | null | undefined, binding: Binding): number | undefined {
  if (init?.type === 'VariableDeclaration') {
    const declarator = init.declarations.find(
      ({ id }) => id.type === 'Identifier' && id.name === binding.name,
    )
    return literalNumber(declarator?.init)
  }
  if (init?.type !== 'AssignmentExpression' || init.operator !== '=') return undefined
  return init.left.type === 'Identifier' && init.left.name === binding.name
    ? literalNumber(init.right)
    : undefined
}

function literalNumber(node: AnyNode | null | undefined): number | undefined {
  if (node?.type === 'UnaryExpression' && node.operator === '-') {
    const positive = literalNumber(node.argument)
    return positive === undefined ? undefined : -positive
  }
  return node?.type === 'Literal' && typeof node.value === 'number' && Number.isInteger(node.value)
    ? node.value
    : undefined
}

/** The value of a literal, or of a constant initialized with a literal. */
function numberOf(node: AnyNode, scopes: Scopes): number | undefined {
  if (node.type !== 'Identifier') return literalNumber(node)
  const binding = scopes.bindingOf(node)
  return binding?.kind === 'const' ? literalNumber(binding.value) : undefined
}

function boundOf(
  test: Expression,
  binding: Binding,
  step: number,
  loop: Loop,
  fn: Fn,
  scopes: Scopes,
): Counted['bound'] {
  if (test.type !== 'BinaryExpression' || test.left.type !== 'Identifier') return undefined
  if (scopes.bindingOf(test.left) !== binding) return undefined
  const { operator } = test
  if (step > 0 ? operator !== '<' && operator !== '<=' : operator !== '>' && operator !== '>=')
    return undefined
  const usable = isSteady(test.right, loop, fn, scopes) && findNumbers(scopes).isNumber(test.right)
  return usable ? { operator, node: test.right } : undefined
}

/** Arithmetic on operands that nothing writes while the loop runs. */
function isSteady(node: AnyNode, loop: Loop, fn: Fn, scopes: Scopes): boolean {
  if (node.type === 'Literal') return typeof node.value === 'number'
  if (node.type === 'BinaryExpression') {
    return (
      ['+', '-', '*', '/', '>>', '<<', '>>>'].includes(node.operator) &&
      [node.left, node.right].every((side) => isSteady(side, loop, fn, scopes) && isPlain(side, scopes))
    )
  }
  if (node.type !== 'Identifier') return false
  const binding = scopes.bindingOf(node)
  if (!binding || binding.name === 'undefined') return false
  if (binding.kind === 'const') return true
  return (
    isOwn(binding, fn) &&
    !binding.uses.some(
      ({ kind, node: at }) => kind === 'write' && at.start >= loop.start && at.start < loop.end,
    )
  )
}

/** Not an object: its `valueOf` would run at each conversion to a number. */
function isPlain(node: AnyNode, scopes: Scopes): boolean {
  if (node.type !== 'Identifier') return node.type === 'Literal' || node.type === 'BinaryExpression'
  const binding = scopes.bindingOf(node)
  if (!binding?.value || binding.kind === 'var' || binding.uses.some(({ kind }) => kind === 'write'))
    return false
  return binding.value.type !== 'Identifier' && isPlain(binding.value, scopes)
}

function turnsOf(start: number, operator: string, limit: number, step: number): number {
  const distance = step > 0 ? limit - start : start - limit
  const inclusive = operator.endsWith('=') ? 1 : 0
  return Math.max(0, Math.ceil((distance + inclusive) / Math.abs(step)))
}

/** Whether the body may end the loop, or skip the rest of a turn. */
function canLeave(loop: Loop): boolean {
  return contains(loop.body, ({ type }) =>
    ['BreakStatement', 'ContinueStatement', 'ReturnStatement', 'ThrowStatement'].includes(type),
  )
}

export function isInnermost(loop: Loop): boolean {
  return !contains(loop.body, isLoop)
}
