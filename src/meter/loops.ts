/**
 * Counts loops. A nest of loops counts in a local variable, which V8 keeps in a register. A loop whose turns can be
 * derived from its own variable has no counter inside, and only reports between strips of turns.
 */
import type { AnyNode } from 'acorn'
import { addTo } from '../model/metrics.ts'
import type { NodeVisitor, RewriteContext } from './context.ts'
import { countedLoop, isInnermost } from './counted-loops.ts'
import { names } from './names.ts'
import { callsOut } from './static-costs.ts'
import { type StripMinedLoop, stripMine } from './strip-mining.ts'
import { costOf, loopStart, loopTurn } from './syntax-costs.ts'
import { contains, type Loop, suspends } from './tree.ts'
import { type Region, regionIn, type State, silent, type Target } from './visit-state.ts'

interface Nest {
  readonly statement: AnyNode
  next: Region | undefined
}

export class LoopRewriter {
  /** The last nest of loops visited. */
  lastNest: Nest | undefined
  readonly #context: RewriteContext
  readonly #visitor: NodeVisitor
  #serial = 0

  constructor(context: RewriteContext, visitor: NodeVisitor) {
    this.#context = context
    this.#visitor = visitor
  }

  visit(loop: Loop, state: State): void {
    const { region } = state
    const whole = this.#context.staticCost(loop)
    if (whole) {
      addTo(region.tally, whole)
      return this.#inside(loop, silent(state))
    }
    if (state.labels.length === 0) return this.enter(loop, state)
    this.#count(loop, state)
  }

  /** `statement` is a loop with its labels. The outermost loop of a nest gets a local variable to count in. */
  enter(statement: AnyNode, state: State): void {
    const { edits } = this.#context
    const own =
      !state.local && state.region.form !== 'none' && this.#context.mode === 'work' && !suspends(statement)
    const inner = own ? { ...state, local: true } : state
    if (own) edits.open(statement.start, `{let ${names.local}=0;`)
    if (statement.type === 'LabeledStatement') this.#visitor.visit(statement.body, inner)
    else this.#count(statement as Loop, inner)
    if (!own) return
    // The code that always follows the nest is counted together with it.
    const nest: Nest = { statement, next: undefined }
    this.lastNest = nest
    edits.close(statement.end, () => `;${this.#context.counting.flush(state.region.cell, nest.next)}}`)
  }

  #inside(loop: Loop, state: State): void {
    const target: Target = { labels: state.labels, loop: true, switched: false, local: state.local }
    const inner: State = { ...state, labels: [], targets: [...state.targets, target] }
    for (const part of partsOf(loop)) this.#visitor.visit(part, inner)
  }

  #count(loop: Loop, state: State): void {
    const context = this.#context
    if (state.region.form === 'none') return this.#inside(loop, state)
    const turn: Region = { ...regionIn(state), tally: { ...loopTurn } }
    addTo(turn.tally, costOf(loop, context.isBig))
    addTo(state.region.tally, loopStart)
    const outside: State = { ...state, labels: [] }
    if (loop.type === 'ForStatement' && loop.init) this.#visitor.visit(loop.init, outside)
    if (loop.type === 'ForOfStatement' || loop.type === 'ForInStatement')
      this.#visitor.visit(loop.right, outside)

    const plain = this.#isPlain(loop)
    const reports = !(
      plain &&
      state.local &&
      (state.targets.some((it) => it.loop) || context.functions.isCalledInLoops(context.fn))
    )
    const strip = state.local ? this.#strip(loop, state, turn, reports) : undefined
    const quietly = !strip && !reports
    const count = () => `${names.local}=${names.local}+${context.counting.units(turn.tally)}`
    // Counting at the end of a turn is faster than at its start, but `continue` would skip it.
    const late = quietly && !contains(loop.body, (it) => it.type === 'ContinueStatement')
    const target: Target = {
      labels: state.labels,
      loop: true,
      switched: false,
      local: state.local,
      ...strip?.target,
      ...(late && { leaving: () => `${count()};` }),
    }
    const inner: State = {
      region: turn,
      local: state.local,
      labels: [],
      targets: [...state.targets, target],
    }
    if (loop.type === 'ForStatement' || loop.type === 'WhileStatement' || loop.type === 'DoWhileStatement') {
      if (loop.test) this.#test(loop.test, inner)
      if (loop.type === 'ForStatement' && loop.update) this.#visitor.visit(loop.update, inner)
    } else this.#visitor.visit(loop.left, inner)
    const block = loop.body.type === 'BlockStatement'
    const { edits } = context
    if (!strip) {
      const early = () => (late ? '' : `${quietly ? count() : context.counting.text(turn, true)};`)
      edits.open(loop.body.start + (block ? 1 : 0), () => `${block ? '' : '{'}${early()}`)
    }
    this.#visitor.visit(loop.body, inner)
    if (late) edits.close(loop.body.end - (block ? 1 : 0), () => `;${count()};`)
    if (!strip && !block) edits.close(loop.body.end, '}')
    strip?.close()
  }

  /** A test succeeds in every turn, so its parts are counted with the turn. */
  #test(test: AnyNode, state: State): void {
    if (this.#context.mode !== 'work' || !isChain(test)) return this.#visitor.visit(test, state)
    this.#visitor.flat(test, state.region)
    this.#visitor.visit(test, silent(state))
  }

  #strip(loop: Loop, state: State, turn: Region, reports: boolean): StripMinedLoop | undefined {
    if (loop.type !== 'ForStatement' && loop.type !== 'WhileStatement') return undefined
    if (state.labels.some((label) => uses(loop.body, label))) return undefined
    const context = this.#context
    return stripMine(loop, {
      context,
      serial: ++this.#serial,
      counted: countedLoop(loop, context.fn, context.scopes),
      units: () => context.counting.units(turn.tally),
      plain: this.#isPlain(loop),
      reports,
    })
  }

  /** Whether a turn neither loops nor calls functions of unknown cost. */
  #isPlain(loop: Loop): boolean {
    return isInnermost(loop) && !callsOut(loop, (call) => this.#context.functions.isQuick(call))
  }
}

/** `a && b && c` without further branches. */
function isChain(node: AnyNode): boolean {
  if (node.type === 'LogicalExpression')
    return node.operator === '&&' && isChain(node.left) && isChain(node.right)
  return !contains(node, ({ type }) => type === 'LogicalExpression' || type === 'ConditionalExpression')
}

function uses(node: AnyNode, label: string): boolean {
  return contains(
    node,
    (it) => (it.type === 'BreakStatement' || it.type === 'ContinueStatement') && it.label?.name === label,
  )
}

function partsOf(loop: Loop): AnyNode[] {
  if (loop.type === 'ForStatement') {
    return [loop.init, loop.test, loop.update, loop.body].filter(
      (part) => part !== null && part !== undefined,
    )
  }
  if (loop.type === 'ForOfStatement' || loop.type === 'ForInStatement')
    return [loop.left, loop.right, loop.body]
  return [loop.test, loop.body]
}
