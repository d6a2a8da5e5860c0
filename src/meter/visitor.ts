/** Visits a function and divides it into regions: adds the cost of each node to the region that it runs with. */
import type { AnyNode } from 'acorn'
import { addTo, workOf } from '../model/metrics.ts'
import type { NodeVisitor, RewriteContext } from './context.ts'
import { once, terminated } from './counting.ts'
import { Jumps } from './jumps.ts'
import { LoopRewriter } from './loops.ts'
import { names } from './names.ts'
import { nativeCharge } from './native-costs.ts'
import { canLeave, isConditional, lightWork } from './static-costs.ts'
import { costOf } from './syntax-costs.ts'
import { children, isFunction, isLoop, type Loop } from './tree.ts'
import { branchIn, type Region, regionIn, type State, silent, within } from './visit-state.ts'

export class Visitor implements NodeVisitor {
  readonly #context: RewriteContext
  readonly #loops: LoopRewriter
  readonly #jumps: Jumps

  constructor(context: RewriteContext) {
    this.#context = context
    this.#loops = new LoopRewriter(context, this)
    this.#jumps = new Jumps(context, this)
  }

  statements(list: readonly AnyNode[], state: State): void {
    const { mode } = this.#context
    let current = state
    /** The regions after statements that may leave, and the region of the exit if the statement is a guard. */
    const parts: { region: Region; exit: Region | undefined }[] = []
    list.forEach((statement, index) => {
      const rest = list.slice(index + 1)
      const splits =
        rest.length > 0 &&
        current.region.form !== 'none' &&
        mode !== 'routines' &&
        canLeave(statement) &&
        !this.#isLight(rest)
      const exit =
        splits && mode === 'work' && isGuard(statement) ? this.#guard(statement, current) : undefined
      if (!exit) this.visit(statement, current)
      if (!splits) return
      const region = regionIn(current)
      parts.push({ region, exit })
      const nest = this.#loops.lastNest
      if (nest?.statement === statement) nest.next = region
      else
        this.#context.edits.open(rest[0]!.start, () => terminated(this.#context.counting.text(region, false)))
      current = { ...current, region }
    })
    for (let i = parts.length - 1; i >= 0; i--) {
      const { region, exit } = parts[i]!
      const into = parts[i - 1]?.region ?? state.region
      if (!exit) this.#merge(region, into, 1)
      else {
        // Counted before the guard, and subtracted at its exit.
        addTo(into.tally, region.tally)
        addTo(exit.tally, region.tally, -1)
        region.form = 'none'
      }
    }
  }

  /** Visits `if (…) return` and similar guards. Returns the region of the exit. */
  #guard(node: Extract<AnyNode, { type: 'IfStatement' }>, state: State): Region {
    addTo(state.region.tally, costOf(node, this.#context.isBig))
    this.visit(node.test, state)
    return this.#branch(node.consequent, state, false)
  }

  /** Counts a region that is too light for a counter of its own with another one. */
  #merge(region: Region, into: Region, share: number): void {
    if (this.#context.mode !== 'work' || region.form === 'none') return
    if (workOf(region.tally, this.#context.formula) > lightWork) return
    addTo(into.tally, region.tally, share)
    region.form = 'none'
  }

  #isLight(nodes: readonly AnyNode[]): boolean {
    let work = 0
    for (const node of nodes) {
      const tally = this.#context.staticCost(node)
      if (!tally) return false
      work += workOf(tally, this.#context.formula)
    }
    return work <= lightWork
  }

  visit(node: AnyNode, state: State): void {
    const { region } = state
    if (isFunction(node)) return addTo(region.tally, costOf(node, this.#context.isBig))
    if (isLoop(node)) return this.#loop(node, state)
    const plain = state.labels.length > 0 ? { ...state, labels: [] } : state
    switch (node.type) {
      case 'BlockStatement':
        return this.statements(node.body, plain)
      case 'LabeledStatement':
        return this.#labeled(node, state)
      case 'IfStatement':
        addTo(region.tally, costOf(node, this.#context.isBig))
        this.visit(node.test, plain)
        return this.#branches([node.consequent, node.alternate], plain)
      case 'ConditionalExpression':
        addTo(region.tally, costOf(node, this.#context.isBig))
        this.visit(node.test, plain)
        return this.#branches([node.consequent, node.alternate], plain)
      case 'LogicalExpression':
        addTo(region.tally, costOf(node, this.#context.isBig))
        this.visit(node.left, plain)
        return this.#branches([node.right, undefined], plain)
      case 'AssignmentExpression':
      case 'AssignmentPattern':
        addTo(region.tally, costOf(node, this.#context.isBig))
        this.visit(node.left, plain)
        // `a ??= b()`, and default values of parameters.
        if (isConditional(node)) return this.#branches([node.right, undefined], plain)
        return this.visit(node.right, plain)
      case 'SwitchStatement':
        return this.#switch(node, plain)
      case 'TryStatement':
        this.visit(node.block, node.handler ? within(plain, { catches: true }) : plain)
        if (node.handler) this.#branch(node.handler.body, plain)
        if (node.finalizer) this.visit(node.finalizer, plain)
        return
      case 'ReturnStatement':
      case 'ThrowStatement':
        return this.#jumps.leave(node, plain)
      case 'BreakStatement':
      case 'ContinueStatement':
        return this.#jumps.jump(node, plain)
      case 'ClassDeclaration':
      case 'ClassExpression':
        if (node.superClass) this.visit(node.superClass, plain)
        return addTo(region.tally, costOf(node, this.#context.isBig))
      case 'WithStatement':
        return
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(node, plain)
      case 'ChainExpression':
        // Parts of the chain may not run, and wrapping a part would break the short circuit.
        return this.flat(node, region)
      default:
        addTo(region.tally, costOf(node, this.#context.isBig))
        for (const part of children(node)) this.visit(part, plain)
    }
  }

  flat(node: AnyNode, region: Region): void {
    addTo(region.tally, costOf(node, this.#context.isBig))
    if (node.type === 'CallExpression') addTo(region.tally, this.#context.functions.calleeStart(node) ?? {})
    if (!isFunction(node)) for (const part of children(node)) this.flat(part, region)
  }

  #loop(loop: Loop, state: State): void {
    if (this.#context.mode === 'routines') {
      for (const part of children(loop)) this.visit(part, { ...state, labels: [] })
      return
    }
    this.#loops.visit(loop, state)
  }

  #labeled(node: Extract<AnyNode, { type: 'LabeledStatement' }>, state: State): void {
    const labels = [...state.labels, node.label.name]
    if (isLoop(node.body) || node.body.type === 'LabeledStatement') {
      // A nest of loops is wrapped together with its labels.
      if (state.labels.length === 0) return this.#loops.enter(node, { ...state, labels })
      return this.visit(node.body, { ...state, labels })
    }
    this.visit(node.body, within({ ...state, labels: [] }, { labels }))
  }

  /** Visits alternatives. If their costs differ by at most `lightWork`, they are charged at their mean, without a counter. */
  #branches(branches: readonly (AnyNode | null | undefined)[], state: State): void {
    const { region } = state
    if (this.#context.mode === 'routines') {
      for (const branch of branches) if (branch) this.visit(branch, state)
      return
    }
    const tallies = branches.map((branch) => (branch ? this.#context.staticCost(branch) : {}))
    const works = tallies.map((tally) => (tally ? workOf(tally, this.#context.formula) : Number.NaN))
    if (Math.max(...works) - Math.min(...works) <= lightWork) {
      for (const tally of tallies) addTo(region.tally, tally!, 1 / branches.length)
      for (const branch of branches) if (branch) this.visit(branch, silent(state))
      return
    }
    for (const branch of branches) if (branch) this.#branch(branch, state)
  }

  /** Visits code that runs conditionally. */
  #branch(node: AnyNode, state: State, mergeable = true): Region {
    const region = branchIn(state)
    // A wrapped function or class would not get the name of its variable.
    if (state.region.form === 'none' || isFunction(node) || node.type === 'ClassExpression') {
      this.visit(node, state)
      return region
    }
    const inner = { ...state, region }
    const count = once(() => this.#context.counting.text(region, false))
    if (node.type === 'BlockStatement') {
      this.#context.edits.open(node.start + 1, () => terminated(count()))
      this.visit(node, inner)
      if (mergeable) this.#merge(region, state.region, 0.5)
      return region
    }
    const statement = /Statement$|Declaration$/.test(node.type)
    this.#context.edits.open(node.start, () => {
      if (count() === '') return ''
      return statement ? `{${count()};` : `(${count()},`
    })
    this.visit(node, inner)
    this.#context.edits.close(node.end, () => (count() === '' ? '' : statement ? '}' : ')'))
    if (mergeable) this.#merge(region, state.region, 0.5)
    return region
  }

  #switch(node: Extract<AnyNode, { type: 'SwitchStatement' }>, state: State): void {
    this.visit(node.discriminant, state)
    addTo(state.region.tally, costOf(node, this.#context.isBig))
    const { targets } = within(state, { switched: true })
    for (const it of node.cases) {
      if (it.test && it.test.type !== 'Literal') this.visit(it.test, silent(state))
      const [first] = it.consequent
      if (!first) continue
      const region =
        state.region.form === 'none' || this.#context.mode === 'routines' ? state.region : branchIn(state)
      if (region !== state.region) {
        this.#context.edits.open(first.start, () => terminated(this.#context.counting.text(region, false)))
      }
      this.statements(it.consequent, { ...state, region, targets })
    }
  }

  #call(node: Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.#context.isBig))
    if (node.type === 'CallExpression')
      addTo(state.region.tally, this.#context.functions.calleeStart(node) ?? {})
    const charge = this.#context.mode === 'routines' ? undefined : nativeCharge(node)
    const charged = charge && chargedPart(node, charge.by)
    if (charged) this.#context.edits.open(charged.start, `${names.charge}((`)
    for (const part of children(node)) this.visit(part, state)
    if (charged) this.#context.edits.close(charged.end, `),${charge.units})`)
  }
}

function chargedPart(
  node: Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }>,
  by: 'receiver' | 'argument' | 'result',
): AnyNode {
  if (by === 'result') return node
  return by === 'argument' ? node.arguments[0]! : (node.callee as { object: AnyNode }).object
}

/** An `if` that leaves before the following statements, without an `else`. It is assumed to leave rarely. */
function isGuard(node: AnyNode): node is Extract<AnyNode, { type: 'IfStatement' }> {
  if (node.type !== 'IfStatement' || node.alternate) return false
  const { consequent } = node
  const [...before] = consequent.type === 'BlockStatement' ? consequent.body : [consequent]
  const last = before.pop()
  if (!last || !['ReturnStatement', 'ThrowStatement', 'BreakStatement'].includes(last.type)) return false
  return !before.some(canLeave)
}
