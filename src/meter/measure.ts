/**
 * Finds what a piece of code costs whenever it runs, if that is nearly the same each time: then it needs no counter
 * of its own. Branches that differ by less than `lightWork` are taken at their mean.
 */
import type { AnyNode, CallExpression } from 'acorn'
import { addTo, type Formula, type Tally, workOf } from '../model/metrics.ts'
import { block, costOf, loopTurn } from './costs.ts'
import { countedLoop } from './counted.ts'
import type { Scopes } from './scopes.ts'
import { children, contains, type Fn, isFunction, isLoop, type Loop, suspends } from './tree.ts'

/** Counting less than this costs more than what is counted. */
export const lightWork = 25
/** A loop of known length counts as straight code up to this. */
const mostStaticWork = 1_000_000

/** Undefined: it depends on how it goes. */
export type Measure = (node: AnyNode) => Tally | undefined

export interface MeasureContext {
  scopes: Scopes
  formula: Formula
  isBig(node: AnyNode): boolean
  /** The function that a node stands in. */
  functionOf(node: AnyNode): Fn | undefined
  /** What a call charges for the start of the function it calls, where the function does not do so itself. */
  calleeStart(node: AnyNode): Tally | undefined
}

export function measurer(context: MeasureContext): Measure {
  const { formula, isBig } = context
  const known = new Map<AnyNode, Tally | undefined>()

  const measure: Measure = (node) => {
    if (!known.has(node)) known.set(node, find(node))
    return known.get(node)
  }

  const sum = (nodes: readonly (AnyNode | null | undefined)[], tally: Tally): Tally | undefined => {
    for (const node of nodes) {
      if (!node) continue
      const part = measure(node)
      if (!part) return undefined
      addTo(tally, part)
    }
    return tally
  }

  /** One of several ways is taken. */
  const oneOf = (
    ways: readonly (readonly (AnyNode | null | undefined)[])[],
    tally: Tally,
  ): Tally | undefined => {
    const tallies = ways.map((way) => sum(way, way.some((it) => it) ? { ...block } : {}))
    const works = tallies.map((way) => (way ? workOf(way, formula) : Number.NaN))
    if (!(Math.max(...works) - Math.min(...works) <= lightWork)) return undefined
    for (const way of tallies) addTo(tally, way!, 1 / ways.length)
    return tally
  }

  const sequence = (statements: readonly AnyNode[], tally: Tally): Tally | undefined => {
    let left = false
    let rest = 0
    for (const statement of statements) {
      const part = measure(statement)
      if (!part) return undefined
      addTo(tally, part)
      if (left) rest += workOf(part, formula)
      if (rest > lightWork) return undefined
      left ||= canLeave(statement)
    }
    return tally
  }

  const staticLoop = (loop: Loop): Tally | undefined => {
    const fn = context.functionOf(loop)
    const turns = fn && countedLoop(loop, fn, context.scopes)?.turns
    if (turns === undefined || loop.type !== 'ForStatement' || suspends(loop)) return undefined
    const turn = sum([loop.test, loop.update, loop.body], { ...loopTurn })
    const tally = sum([loop.init, loop.test], {})
    if (!turn || !tally || workOf(turn, formula) * turns > mostStaticWork) return undefined
    addTo(tally, turn, turns)
    return tally
  }

  const find = (node: AnyNode): Tally | undefined => {
    const tally = { ...costOf(node, isBig) }
    if (isFunction(node) || node.type === 'ClassDeclaration' || node.type === 'ClassExpression') return tally
    if (isLoop(node)) return staticLoop(node)
    switch (node.type) {
      case 'BlockStatement':
        return sequence(node.body, tally)
      case 'IfStatement':
      case 'ConditionalExpression': {
        return sum([node.test], tally) && oneOf([[node.consequent], [node.alternate]], tally)
      }
      case 'LogicalExpression':
        return sum([node.left], tally) && oneOf([[node.right], []], tally)
      case 'AssignmentExpression':
      case 'AssignmentPattern':
        if (!isConditional(node)) return sum([node.left, node.right], tally)
        return sum([node.left], tally) && oneOf([[node.right], []], tally)
      case 'SwitchStatement':
      case 'TryStatement':
        return undefined
      case 'CallExpression':
        addTo(tally, context.calleeStart(node) ?? {})
        return sum(children(node), tally)
      default:
        return sum(children(node), tally)
    }
  }
  return measure
}

/** True if the right side of an assignment need not be looked at. */
export function isConditional(
  node: Extract<AnyNode, { type: 'AssignmentExpression' | 'AssignmentPattern' }>,
): boolean {
  return node.type === 'AssignmentPattern' || ['&&=', '||=', '??='].includes(node.operator)
}

/** True if it may hand over to somewhere else than the next statement, other than by an exception of a call. */
export function canLeave(node: AnyNode): boolean {
  return leaves(node, { loop: false, switched: false, labels: [] })
}

function leaves(node: AnyNode, inside: { loop: boolean; switched: boolean; labels: string[] }): boolean {
  if (isFunction(node)) return false
  switch (node.type) {
    case 'ReturnStatement':
    case 'ThrowStatement':
      return true
    case 'BreakStatement':
      return node.label ? !inside.labels.includes(node.label.name) : !inside.loop && !inside.switched
    case 'ContinueStatement':
      return node.label ? !inside.labels.includes(node.label.name) : !inside.loop
    case 'LabeledStatement':
      return leaves(node.body, { ...inside, labels: [...inside.labels, node.label.name] })
    case 'SwitchStatement':
      return children(node).some((part) => leaves(part, { ...inside, switched: true }))
    default: {
      if (node.type.endsWith('Expression')) return false
      const within = isLoop(node) ? { ...inside, loop: true } : inside
      return children(node).some((part) => leaves(part, within))
    }
  }
}

/** True if a function other than a trivial one might be called. */
export function callsOut(node: AnyNode, isKnown: (call: CallExpression) => boolean): boolean {
  return contains(node, (it) => {
    if (it.type === 'CallExpression') return !isKnown(it)
    return it.type === 'NewExpression' || it.type === 'TaggedTemplateExpression'
  })
}
