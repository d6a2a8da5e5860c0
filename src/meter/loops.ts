/**
 * Counts loops. A nest of loops counts in a local variable, which V8 keeps in a register; a loop whose turns can be
 * read off its own variable counts nothing inside at all, and only pauses now and then to report.
 */
import type { AnyNode } from 'acorn'
import { addTo } from '../model/metrics.ts'
import { costOf, loopStart, loopTurn } from './costs.ts'
import { countedLoop, isInnermost } from './counted.ts'
import { callsOut } from './measure.ts'
import { names } from './names.ts'
import type { Rewriter } from './rewrite.ts'
import { type Region, regionIn, type State, silent, type Target } from './state.ts'
import { inStrips, type Strip } from './strips.ts'
import { contains, type Loop, suspends } from './tree.ts'
import type { Visitor } from './visitor.ts'

interface Nest {
  readonly statement: AnyNode
  next: Region | undefined
}

export class LoopRewriter {
  /** The nest of loops that was visited last. */
  lastNest: Nest | undefined
  readonly #rewriter: Rewriter
  readonly #visitor: Visitor
  #serial = 0

  constructor(rewriter: Rewriter, visitor: Visitor) {
    this.#rewriter = rewriter
    this.#visitor = visitor
  }

  visit(loop: Loop, state: State): void {
    const { region } = state
    const whole = this.#rewriter.measure(loop)
    if (whole) {
      addTo(region.tally, whole)
      return this.#inside(loop, silent(state))
    }
    if (state.labels.length === 0) return this.enter(loop, state)
    this.#count(loop, state)
  }

  /** `statement` is a loop, with its labels if it has any: the outermost of a nest gets a local to count in. */
  enter(statement: AnyNode, state: State): void {
    const { edits } = this.#rewriter
    const own =
      !state.local && state.region.form !== 'none' && this.#rewriter.mode === 'work' && !suspends(statement)
    const inner = own ? { ...state, local: true } : state
    if (own) edits.open(statement.start, `{let ${names.local}=0;`)
    if (statement.type === 'LabeledStatement') this.#visitor.visit(statement.body, inner)
    else this.#count(statement as Loop, inner)
    if (!own) return
    // What is sure to follow is counted here too.
    const nest: Nest = { statement, next: undefined }
    this.lastNest = nest
    edits.close(statement.end, () => `;${this.#rewriter.counting.flush(state.region.cell, nest.next)}}`)
  }

  #inside(loop: Loop, state: State): void {
    const target: Target = { labels: state.labels, loop: true, switched: false, local: state.local }
    const inner: State = { ...state, labels: [], targets: [...state.targets, target] }
    for (const part of partsOf(loop)) this.#visitor.visit(part, inner)
  }

  #count(loop: Loop, state: State): void {
    const rewriter = this.#rewriter
    if (state.region.form === 'none') return this.#inside(loop, state)
    const turn: Region = { ...regionIn(state), tally: { ...loopTurn } }
    addTo(turn.tally, costOf(loop, rewriter.isBig))
    addTo(state.region.tally, loopStart)
    const outside: State = { ...state, labels: [] }
    if (loop.type === 'ForStatement' && loop.init) this.#visitor.visit(loop.init, outside)
    if (loop.type === 'ForOfStatement' || loop.type === 'ForInStatement')
      this.#visitor.visit(loop.right, outside)

    const plain = this.#isPlain(loop)
    const reports = !(
      plain &&
      state.local &&
      (state.targets.some((it) => it.loop) || rewriter.functions.isCalledInLoops(rewriter.fn))
    )
    const strip = state.local ? this.#strip(loop, state, turn, reports) : undefined
    const quietly = !strip && !reports
    const count = () => `${names.local}=${names.local}+${rewriter.counting.units(turn.tally)}`
    // At the end of a turn is quicker than at its start, but `continue` would miss it.
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
    const { edits } = rewriter
    if (!strip) {
      const early = () => (late ? '' : `${quietly ? count() : rewriter.counting.text(turn, true)};`)
      edits.open(loop.body.start + (block ? 1 : 0), () => `${block ? '' : '{'}${early()}`)
    }
    this.#visitor.visit(loop.body, inner)
    if (late) edits.close(loop.body.end - (block ? 1 : 0), () => `;${count()};`)
    if (!strip && !block) edits.close(loop.body.end, '}')
    strip?.close()
  }

  /** All of a test but its last run is passed, so its parts run as often as the loop turns, or nearly. */
  #test(test: AnyNode, state: State): void {
    if (this.#rewriter.mode !== 'work' || !isChain(test)) return this.#visitor.visit(test, state)
    this.#visitor.flat(test, state.region)
    this.#visitor.visit(test, silent(state))
  }

  #strip(loop: Loop, state: State, turn: Region, reports: boolean): Strip | undefined {
    if (loop.type !== 'ForStatement' && loop.type !== 'WhileStatement') return undefined
    if (state.labels.some((label) => uses(loop.body, label))) return undefined
    const rewriter = this.#rewriter
    return inStrips(loop, {
      rewriter,
      serial: ++this.#serial,
      counted: countedLoop(loop, rewriter.fn, rewriter.scopes),
      units: () => rewriter.counting.units(turn.tally),
      plain: this.#isPlain(loop),
      reports,
    })
  }

  /** What a turn takes is plain: it neither loops nor calls. */
  #isPlain(loop: Loop): boolean {
    return isInnermost(loop) && !callsOut(loop, (call) => this.#rewriter.functions.isQuick(call))
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
