/** Walks through a function and finds its regions: each piece of code is added to the region that it runs with. */
import type { AnyNode } from 'acorn'
import { addTo, workOf } from '../model/metrics.ts'
import { costOf } from './costs.ts'
import { once, terminated } from './counting.ts'
import { Jumps } from './jumps.ts'
import { LoopRewriter } from './loops.ts'
import { canLeave, isConditional, lightWork } from './measure.ts'
import { names } from './names.ts'
import { nativeCharge } from './natives.ts'
import type { Rewriter } from './rewrite.ts'
import { type Region, regionIn, type State, silent, within } from './state.ts'
import { children, isFunction, isLoop, type Loop } from './tree.ts'

export class Visitor {
  readonly #rewriter: Rewriter
  readonly #loops: LoopRewriter
  readonly #jumps: Jumps

  constructor(rewriter: Rewriter) {
    this.#rewriter = rewriter
    this.#loops = new LoopRewriter(rewriter, this)
    this.#jumps = new Jumps(rewriter, this)
  }

  statements(list: readonly AnyNode[], state: State): void {
    const { mode } = this.#rewriter
    let current = state
    /** What follows statements that may leave, and how it is left. */
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
        this.#rewriter.edits.open(rest[0]!.start, () =>
          terminated(this.#rewriter.counting.text(region, false)),
        )
      current = { ...current, region }
    })
    for (let i = parts.length - 1; i >= 0; i--) {
      const { region, exit } = parts[i]!
      const into = parts[i - 1]?.region ?? state.region
      if (!exit) this.#merge(region, into, 1)
      else {
        // Counted before it is known whether it will be left, and taken back where it is.
        addTo(into.tally, region.tally)
        addTo(exit.tally, region.tally, -1)
        region.form = 'none'
      }
    }
  }

  /** `if (…) return` and the like: gives the region of the way out. */
  #guard(node: Extract<AnyNode, { type: 'IfStatement' }>, state: State): Region {
    addTo(state.region.tally, costOf(node, this.#rewriter.isBig))
    this.visit(node.test, state)
    return this.#arm(node.consequent, state, false)
  }

  /** A region that is too light for a counter of its own is counted with another. */
  #merge(region: Region, into: Region, share: number): void {
    if (this.#rewriter.mode !== 'work' || region.form === 'none') return
    if (workOf(region.tally, this.#rewriter.formula) > lightWork) return
    addTo(into.tally, region.tally, share)
    region.form = 'none'
  }

  #isLight(nodes: readonly AnyNode[]): boolean {
    let work = 0
    for (const node of nodes) {
      const tally = this.#rewriter.measure(node)
      if (!tally) return false
      work += workOf(tally, this.#rewriter.formula)
    }
    return work <= lightWork
  }

  visit(node: AnyNode, state: State): void {
    const { region } = state
    if (isFunction(node)) return addTo(region.tally, costOf(node, this.#rewriter.isBig))
    if (isLoop(node)) return this.#loop(node, state)
    const plain = state.labels.length > 0 ? { ...state, labels: [] } : state
    switch (node.type) {
      case 'BlockStatement':
        return this.statements(node.body, plain)
      case 'LabeledStatement':
        return this.#labeled(node, state)
      case 'IfStatement':
        addTo(region.tally, costOf(node, this.#rewriter.isBig))
        this.visit(node.test, plain)
        return this.#branches([node.consequent, node.alternate], plain)
      case 'ConditionalExpression':
        addTo(region.tally, costOf(node, this.#rewriter.isBig))
        this.visit(node.test, plain)
        return this.#branches([node.consequent, node.alternate], plain)
      case 'LogicalExpression':
        addTo(region.tally, costOf(node, this.#rewriter.isBig))
        this.visit(node.left, plain)
        return this.#branches([node.right, undefined], plain)
      case 'AssignmentExpression':
      case 'AssignmentPattern':
        addTo(region.tally, costOf(node, this.#rewriter.isBig))
        this.visit(node.left, plain)
        // `a ??= b()`, and what a parameter is if nothing is given.
        if (isConditional(node)) return this.#branches([node.right, undefined], plain)
        return this.visit(node.right, plain)
      case 'SwitchStatement':
        return this.#switch(node, plain)
      case 'TryStatement':
        this.visit(node.block, node.handler ? within(plain, { catches: true }) : plain)
        if (node.handler) this.#arm(node.handler.body, plain)
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
        return addTo(region.tally, costOf(node, this.#rewriter.isBig))
      case 'WithStatement':
        return
      case 'CallExpression':
      case 'NewExpression':
        return this.#call(node, plain)
      case 'ChainExpression':
        // A part of it may not run, and what is wrapped would no longer end the whole.
        return this.flat(node, region)
      default:
        addTo(region.tally, costOf(node, this.#rewriter.isBig))
        for (const part of children(node)) this.visit(part, plain)
    }
  }

  /** Charges all of it, whatever parts of it run. */
  flat(node: AnyNode, region: Region): void {
    addTo(region.tally, costOf(node, this.#rewriter.isBig))
    if (node.type === 'CallExpression') addTo(region.tally, this.#rewriter.functions.calleeStart(node) ?? {})
    if (!isFunction(node)) for (const part of children(node)) this.flat(part, region)
  }

  #loop(loop: Loop, state: State): void {
    if (this.#rewriter.mode === 'routines') {
      for (const part of children(loop)) this.visit(part, { ...state, labels: [] })
      return
    }
    this.#loops.visit(loop, state)
  }

  #labeled(node: Extract<AnyNode, { type: 'LabeledStatement' }>, state: State): void {
    const labels = [...state.labels, node.label.name]
    if (isLoop(node.body) || node.body.type === 'LabeledStatement') {
      // A nest of loops is wrapped with its labels.
      if (state.labels.length === 0) return this.#loops.enter(node, { ...state, labels })
      return this.visit(node.body, { ...state, labels })
    }
    this.visit(node.body, within({ ...state, labels: [] }, { labels }))
  }

  /** One of several ways; those that differ little are charged at their mean, without a counter. */
  #branches(ways: readonly (AnyNode | null | undefined)[], state: State): void {
    const { region } = state
    if (this.#rewriter.mode === 'routines') {
      for (const way of ways) if (way) this.visit(way, state)
      return
    }
    const tallies = ways.map((way) => (way ? this.#rewriter.measure(way) : {}))
    const works = tallies.map((tally) => (tally ? workOf(tally, this.#rewriter.formula) : Number.NaN))
    if (Math.max(...works) - Math.min(...works) <= lightWork) {
      for (const tally of tallies) addTo(region.tally, tally!, 1 / ways.length)
      for (const way of ways) if (way) this.visit(way, silent(state))
      return
    }
    for (const way of ways) if (way) this.#arm(way, state)
  }

  /** Code that runs only sometimes. */
  #arm(node: AnyNode, state: State, mergeable = true): Region {
    const region = regionIn(state)
    // What is wrapped would not be named after a variable.
    if (state.region.form === 'none' || isFunction(node) || node.type === 'ClassExpression') {
      this.visit(node, state)
      return region
    }
    const inner = { ...state, region }
    const count = once(() => this.#rewriter.counting.text(region, false))
    if (node.type === 'BlockStatement') {
      this.#rewriter.edits.open(node.start + 1, () => terminated(count()))
      this.visit(node, inner)
      if (mergeable) this.#merge(region, state.region, 0.5)
      return region
    }
    const statement = /Statement$|Declaration$/.test(node.type)
    this.#rewriter.edits.open(node.start, () => {
      if (count() === '') return ''
      return statement ? `{${count()};` : `(${count()},`
    })
    this.visit(node, inner)
    this.#rewriter.edits.close(node.end, () => (count() === '' ? '' : statement ? '}' : ')'))
    if (mergeable) this.#merge(region, state.region, 0.5)
    return region
  }

  #switch(node: Extract<AnyNode, { type: 'SwitchStatement' }>, state: State): void {
    this.visit(node.discriminant, state)
    addTo(state.region.tally, costOf(node, this.#rewriter.isBig))
    const { targets } = within(state, { switched: true })
    for (const it of node.cases) {
      if (it.test && it.test.type !== 'Literal') this.visit(it.test, silent(state))
      const [first] = it.consequent
      if (!first) continue
      const region =
        state.region.form === 'none' || this.#rewriter.mode === 'routines' ? state.region : regionIn(state)
      if (region !== state.region) {
        this.#rewriter.edits.open(first.start, () => terminated(this.#rewriter.counting.text(region, false)))
      }
      this.statements(it.consequent, { ...state, region, targets })
    }
  }

  #call(node: Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.#rewriter.isBig))
    if (node.type === 'CallExpression')
      addTo(state.region.tally, this.#rewriter.functions.calleeStart(node) ?? {})
    const charge = this.#rewriter.mode === 'routines' ? undefined : nativeCharge(node)
    const charged = charge && chargedPart(node, charge.by)
    if (charged) this.#rewriter.edits.open(charged.start, `${names.charge}((`)
    for (const part of children(node)) this.visit(part, state)
    if (charged) this.#rewriter.edits.close(charged.end, `),${charge.units})`)
  }
}

function chargedPart(
  node: Extract<AnyNode, { type: 'CallExpression' | 'NewExpression' }>,
  by: 'receiver' | 'argument' | 'result',
): AnyNode {
  if (by === 'result') return node
  return by === 'argument' ? node.arguments[0]! : (node.callee as { object: AnyNode }).object
}

/** A condition under which what follows does not run: most often it does. */
function isGuard(node: AnyNode): node is Extract<AnyNode, { type: 'IfStatement' }> {
  if (node.type !== 'IfStatement' || node.alternate) return false
  const { consequent } = node
  const [...before] = consequent.type === 'BlockStatement' ? consequent.body : [consequent]
  const last = before.pop()
  if (!last || !['ReturnStatement', 'ThrowStatement', 'BreakStatement'].includes(last.type)) return false
  return !before.some(canLeave)
}
