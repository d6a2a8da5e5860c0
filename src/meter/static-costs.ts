/**
 * Finds the cost of code that costs nearly the same in every run, and therefore needs no counter of its own. Branches
 * whose costs differ by at most `lightWork` are charged at their mean.
 */
import type { AnyNode, CallExpression } from 'acorn'
import { addTo, type Formula, type Tally, workOf } from '../model/metrics.ts'
import { countedLoop } from './counted-loops.ts'
import type { Scopes } from './scopes.ts'
import { branch as branchStart, costOf, loopTurn } from './syntax-costs.ts'
import { children, contains, type Fn, isFunction, isLoop, type Loop, suspends } from './tree.ts'

/** Below this work, a counter would cost more than the code that it counts. */
export const lightWork = 25
/** A loop with a known number of turns counts as straight-line code up to this work. */
const maxStaticWork = 1_000_000

/** Undefined: the cost varies from run to run. */
export type StaticCost = (node: AnyNode) => Tally | undefined

export interface CostContext {
  scopes: Scopes
  formula: Formula
  isBig(node: AnyNode): boolean
  /** The function that contains a node. */
  functionOf(node: AnyNode): Fn | undefined
  /** The cost of starting the called function, if its callers count it. */
  calleeStart(node: AnyNode): Tally | undefined
}

export function staticCosts(context: CostContext): StaticCost {
  const costs = new StaticCosts(context)
  return (node) => costs.of(node)
}

type Parts = readonly (AnyNode | null | undefined)[]

class StaticCosts {
  readonly #context: CostContext
  readonly #known = new Map<AnyNode, Tally | undefined>()

  constructor(context: CostContext) {
    this.#context = context
  }

  of(node: AnyNode): Tally | undefined {
    if (!this.#known.has(node)) this.#known.set(node, this.#find(node))
    return this.#known.get(node)
  }

  #find(node: AnyNode): Tally | undefined {
    const tally = { ...costOf(node, this.#context.isBig) }
    if (isFunction(node) || node.type === 'ClassDeclaration' || node.type === 'ClassExpression') return tally
    if (isLoop(node)) return this.#loop(node)
    switch (node.type) {
      case 'BlockStatement':
        return this.#sequence(node.body, tally)
      case 'IfStatement':
      case 'ConditionalExpression': {
        return this.#sum([node.test], tally) && this.#oneOf([[node.consequent], [node.alternate]], tally)
      }
      case 'LogicalExpression':
        return this.#sum([node.left], tally) && this.#oneOf([[node.right], []], tally)
      case 'AssignmentExpression':
      case 'AssignmentPattern':
        if (!isConditional(node)) return this.#sum([node.left, node.right], tally)
        return this.#sum([node.left], tally) && this.#oneOf([[node.right], []], tally)
      case 'SwitchStatement':
      case 'TryStatement':
        return undefined
      case 'CallExpression':
        addTo(tally, this.#context.calleeStart(node) ?? {})
        return this.#sum(children(node), tally)
      default:
        return this.#sum(children(node), tally)
    }
  }

  #sum(nodes: Parts, tally: Tally): Tally | undefined {
    for (const node of nodes) {
      if (!node) continue
      const part = this.of(node)
      if (!part) return undefined
      addTo(tally, part)
    }
    return tally
  }

  /** Exactly one of the branches runs. */
  #oneOf(branches: readonly Parts[], tally: Tally): Tally | undefined {
    const tallies = branches.map((branch) =>
      this.#sum(branch, branch.some((it) => it) ? { ...branchStart } : {}),
    )
    const works = tallies.map((branch) => (branch ? this.#work(branch) : Number.NaN))
    if (!(Math.max(...works) - Math.min(...works) <= lightWork)) return undefined
    for (const branch of tallies) addTo(tally, branch!, 1 / branches.length)
    return tally
  }

  #sequence(statements: readonly AnyNode[], tally: Tally): Tally | undefined {
    let mayHaveLeft = false
    let rest = 0
    for (const statement of statements) {
      const part = this.of(statement)
      if (!part) return undefined
      addTo(tally, part)
      if (mayHaveLeft) rest += this.#work(part)
      if (rest > lightWork) return undefined
      mayHaveLeft ||= canLeave(statement)
    }
    return tally
  }

  #loop(loop: Loop): Tally | undefined {
    const fn = this.#context.functionOf(loop)
    const turns = fn && countedLoop(loop, fn, this.#context.scopes)?.turns
    if (turns === undefined || loop.type !== 'ForStatement' || suspends(loop)) return undefined
    const turn = this.#sum([loop.test, loop.update, loop.body], { ...loopTurn })
    const tally = this.#sum([loop.init, loop.test], {})
    if (!turn || !tally || this.#work(turn) * turns > maxStaticWork) return undefined
    addTo(tally, turn, turns)
    return tally
  }

  #work(tally: Tally): number {
    return workOf(tally, this.#context.formula)
  }
}

/** Whether the right side of an assignment may not be evaluated. */
export function isConditional(
  node: Extract<AnyNode, { type: 'AssignmentExpression' | 'AssignmentPattern' }>,
): boolean {
  return node.type === 'AssignmentPattern' || ['&&=', '||=', '??='].includes(node.operator)
}

/** Whether control may continue elsewhere than at the next statement, not counting exceptions thrown by calls. */
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

/** Whether the node may call a function of unknown cost. */
export function callsOut(node: AnyNode, isKnown: (call: CallExpression) => boolean): boolean {
  return contains(node, (it) => {
    if (it.type === 'CallExpression') return !isKnown(it)
    return it.type === 'NewExpression' || it.type === 'TaggedTemplateExpression'
  })
}
