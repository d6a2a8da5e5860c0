/**
 * Counts loops. A nest of loops counts in a local variable, which V8 keeps in a register; a loop whose turns can be
 * read off its own variable counts nothing inside at all, and only pauses now and then to report.
 */
import type { AnyNode } from 'acorn'
import { costOf } from './costs.ts'
import { type Counted, countedLoop, isInnermost } from './counted.ts'
import { callsOut } from './measure.ts'
import { addTo } from './metrics.ts'
import { lengthCount, names, prefix } from './names.ts'
import { nativeCharge } from './natives.ts'
import type { Region, Rewriter, State, Target } from './rewrite.ts'
import { contains, type Loop } from './tree.ts'

interface Nest {
  readonly statement: AnyNode
  next: Region | undefined
}

export class LoopRewriter {
  /** The nest of loops that was visited last. */
  lastNest: Nest | undefined
  readonly #rewriter: Rewriter
  #serial = 0

  constructor(rewriter: Rewriter) {
    this.#rewriter = rewriter
  }

  visit(loop: Loop, state: State): void {
    const { region } = state
    const whole = this.#rewriter.measure(loop)
    if (whole) {
      addTo(region.tally, whole)
      return this.#inside(loop, this.#silent(state))
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
    if (statement.type === 'LabeledStatement') this.#rewriter.visit(statement.body, inner)
    else this.#count(statement as Loop, inner)
    if (!own) return
    // What is sure to follow is counted here too.
    const nest: Nest = { statement, next: undefined }
    this.lastNest = nest
    edits.close(statement.end, () => `;${this.#rewriter.flush(state.region.cell, nest.next)}}`)
  }

  #silent(state: State): State {
    return { ...state, region: { tally: {}, form: 'none', cell: state.region.cell } }
  }

  #inside(loop: Loop, state: State): void {
    const target: Target = { labels: state.labels, loop: true, switched: false, local: state.local }
    const inner: State = { ...state, labels: [], targets: [...state.targets, target] }
    for (const part of partsOf(loop)) this.#rewriter.visit(part, inner)
  }

  #count(loop: Loop, state: State): void {
    const rewriter = this.#rewriter
    if (state.region.form === 'none') return this.#inside(loop, state)
    const turn: Region = { ...rewriter.regionIn(state), tally: { blocks: 1, instructions: 1 } }
    addTo(turn.tally, costOf(loop, rewriter.isBig))
    const outside: State = { ...state, labels: [] }
    if (loop.type === 'ForStatement' && loop.init) rewriter.visit(loop.init, outside)
    if (loop.type === 'ForOfStatement' || loop.type === 'ForInStatement') rewriter.visit(loop.right, outside)

    const counted = state.local ? this.#counted(loop, state) : undefined
    const strip = counted && this.#strip(loop, counted, turn)
    const passing = this.#isPassing(loop, state)
      ? () => `${names.local}=${names.local}+${rewriter.units(turn.tally)};`
      : undefined
    const target: Target = {
      labels: state.labels,
      loop: true,
      switched: false,
      local: state.local,
      ...(strip && { leaving: strip.leaving, exit: strip.exit }),
      ...(passing && { leaving: passing }),
    }
    const inner: State = {
      region: turn,
      local: state.local,
      labels: [],
      targets: [...state.targets, target],
    }
    if (loop.type === 'ForStatement' || loop.type === 'WhileStatement' || loop.type === 'DoWhileStatement') {
      if (loop.test) this.#test(loop.test, inner)
      if (loop.type === 'ForStatement' && loop.update) rewriter.visit(loop.update, inner)
    } else rewriter.visit(loop.left, inner)
    const block = loop.body.type === 'BlockStatement'
    if (!strip && !passing) {
      const count = () => rewriter.counting(turn, true)
      rewriter.edits.open(loop.body.start + (block ? 1 : 0), () => `${block ? '' : '{'}${count()};`)
    } else if (passing && !block) rewriter.edits.open(loop.body.start, '{')
    rewriter.visit(loop.body, inner)
    if (passing) rewriter.edits.close(loop.body.end - (block ? 1 : 0), () => `;${passing()}`)
    if (!strip && !block) rewriter.edits.close(loop.body.end, '}')
    strip?.close()
  }

  /** All of a test but its last run is passed, so its parts run as often as the loop turns, or nearly. */
  #test(test: AnyNode, state: State): void {
    if (this.#rewriter.mode !== 'work' || !isChain(test)) return this.#rewriter.visit(test, state)
    this.#rewriter.flat(test, state.region)
    this.#rewriter.visit(test, this.#silent(state))
  }

  /** Over the items of something, inside another loop that reports, and without a call: never long. */
  #isPassing(loop: Loop, state: State): boolean {
    if (loop.type !== 'ForOfStatement' || !state.local || !state.targets.some((target) => target.loop))
      return false
    // It counts at the end of a turn, which is quicker than at the start, and which `continue` would miss.
    return this.#isPlain(loop) && !contains(loop.body, (it) => it.type === 'ContinueStatement')
  }

  #counted(loop: Loop, state: State): Counted | undefined {
    const { scopes, fn } = this.#rewriter
    if (state.labels.some((label) => uses(loop.body, label))) return undefined
    const counted = countedLoop(loop, fn, scopes)
    if (!counted?.bound) return counted
    const { test } = loop as Extract<Loop, { type: 'ForStatement' }>
    const text = this.#rewriter.edits.text(test!.start, test!.end)
    // The bound is written again elsewhere, where neither a comment nor a line break may go.
    if (!/[\n\r\u2028\u2029]|\/[/*]/.test(text)) return counted
    const { bound: _, ...unbounded } = counted
    return unbounded
  }

  /** What a turn takes is plain: it neither loops nor calls. */
  #isPlain(loop: Loop): boolean {
    return isInnermost(loop) && !callsOut(loop, (call) => this.#isQuick(call))
  }

  #isQuick(call: AnyNode): boolean {
    if (call.type !== 'CallExpression') return false
    const { callee } = call
    if (callee.type !== 'MemberExpression') return this.#rewriter.calleeStart(call) !== undefined
    if (nativeCharge(call)) return false
    return !(costOf(call, () => false).calls ?? 0)
  }

  /** Puts what the loop starts with before it. */
  #takeOut(loop: Loop, init: AnyNode, header: () => string): void {
    const { edits } = this.#rewriter
    const start = edits.match(uptoInit, loop.start)
    const end = edits.match(afterInit, init.end)
    const expression = init.type !== 'VariableDeclaration'
    // Lines stay where they were. As a statement, an expression may not begin with just anything.
    const lines = edits.text(loop.start, start).replace(/[^\n\r\u2028\u2029]/g, '')
    edits.replace(loop.start, start, `{${lines}${expression ? '(' : ''}`)
    edits.open(end, () => `${expression ? ')' : ''};${header()}for(`)
  }

  /** Turns the loop into one that runs in strips: between them it reports, inside them it counts nothing. */
  #strip(loop: Loop, counted: Counted, turn: Region) {
    const { edits } = this.#rewriter
    const { name, step, bound, startsAsNumber, updateEnd } = counted
    const serial = ++this.#serial
    const [start, end, exit] = ['S', 'E', 'L'].map((letter) => `${prefix}${letter}${serial}`)
    const units = () => this.#rewriter.units(turn.tally)
    const plain = this.#isPlain(loop)
    const site = serial % lengthCount
    // Where a turn may take long, the length of strips is found out while it runs.
    const length = () => {
      if (!plain) return `${names.lengths}[${site}]*${step}`
      const { fullAt } = this.#rewriter
      return String(Math.max(Math.min(64, fullAt), Math.floor(fullAt / Math.max(1, units()))) * step)
    }
    const turns = () => {
      const distance = startsAsNumber ? `(${name}-${start})` : `${names.turns}(${name},${start},${step})`
      const by = units() / step
      return Number.isInteger(by) ? `${distance}*${by}` : `${distance}/${step}*${units()}`
    }
    const sofar = () => `${names.local}=${names.local}+${turns()}`
    const header = () => {
      const paused = startsAsNumber ? `${name}+${length()}` : `${names.pause}(${name},${length()})`
      const next = bound ? `${names.end}(${name},${textOf(bound.node)},${length()})` : paused
      return `let ${start}=${name},${end};${exit}:for(;;){${end}=${next};`
    }
    const textOf = (node: AnyNode) => edits.text(node.start, node.end)
    // Whatever the variable is, to compare it so has no effect of its own.
    const before = `${name}!==${end}`
    if (loop.type === 'ForStatement') {
      const { init, test } = loop
      if (init) this.#takeOut(loop, init, header)
      else edits.open(loop.start, () => `{${header()}`)
      if (bound) edits.replace(test!.start, test!.end, `${name}${bound.operator}${end}`)
      else {
        edits.open(test!.start, `${before}&&(`)
        edits.close(test!.end, ')')
      }
    } else if (loop.type === 'WhileStatement') {
      edits.open(loop.start, () => `{${header()}`)
      edits.open(loop.test.start, `${before}&&(`)
      edits.close(loop.test.end, ')')
    }
    const finished = bound ? `${end}===${textOf(bound.node)}||${end}!==${end}` : before
    return {
      exit: exit!,
      /** What the turns so far cost; a turn that is left in the middle counts as a whole one. */
      leaving: (position: number, itself: boolean): string => {
        const partial = updateEnd === undefined || position < updateEnd
        const own = partial ? `+${units()}` : ''
        // At the loop's own exit the turns are counted by what follows it.
        if (itself) return partial ? `${names.local}=${names.local}${own};` : ''
        // A `finally` on the way might stay in the loop after all.
        return `${names.local}=${names.local}+${turns()}${own};${start}=${name};`
      },
      close: (): void => {
        edits.close(loop.end, () => {
          const done = `${names.local}+${turns()}`
          const fold = plain ? `${names.fold}(${done})` : `${names.strip}(${done},${site})`
          const report = `${names.local}=${fold};${start}=${name};`
          return `;if(${finished})break;${report}}${sofar()};}`
        })
      },
    }
  }
}

/** Blanks and comments. */
const gap = '(?:\\s|//.*|/\\*(?:[^*]|\\*(?!/))*\\*/)*'
const uptoInit = new RegExp(`for${gap}\\(`, 'y')
const afterInit = new RegExp(`(?:${gap}\\))*${gap}`, 'y')

/** `a && b && c` without further branches. */
function isChain(node: AnyNode): boolean {
  if (node.type === 'LogicalExpression')
    return node.operator === '&&' && isChain(node.left) && isChain(node.right)
  return !contains(node, ({ type }) => type === 'LogicalExpression' || type === 'ConditionalExpression')
}

function suspends(node: AnyNode): boolean {
  return contains(
    node,
    (it) =>
      it.type === 'AwaitExpression' ||
      it.type === 'YieldExpression' ||
      (it.type === 'ForOfStatement' && it.await === true),
  )
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
