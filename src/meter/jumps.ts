/** Ways out of loops: before they are taken, what the loops have counted so far is handed on. */
import type { AnyNode } from 'acorn'
import { addTo } from '../model/metrics.ts'
import { costOf } from './costs.ts'
import { names } from './names.ts'
import type { Rewriter } from './rewrite.ts'
import type { State, Target } from './state.ts'
import type { Visitor } from './visitor.ts'

export class Jumps {
  readonly #rewriter: Rewriter
  readonly #visitor: Visitor

  constructor(rewriter: Rewriter, visitor: Visitor) {
    this.#rewriter = rewriter
    this.#visitor = visitor
  }

  /** `return` and `throw` take along what the loops around them have counted. */
  leave(node: Extract<AnyNode, { type: 'ReturnStatement' | 'ThrowStatement' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.#rewriter.isBig))
    if (!state.local) {
      if (node.argument) this.#visitor.visit(node.argument, state)
      return
    }
    // What is thrown goes no further than to where it is caught.
    const caught = node.type === 'ThrowStatement' ? state.targets.findLastIndex(({ catches }) => catches) : -1
    const targets = state.targets.slice(caught + 1)
    const flush = state.targets[caught]?.local
      ? ''
      : `${this.#rewriter.counting.flush(state.region.cell)}${names.local}=0;`
    this.#rewriter.edits.open(node.start, () => `{${this.#leaving(targets, node.start)}${flush}`)
    // What the value itself counts comes after the flush.
    if (node.argument) this.#visitor.visit(node.argument, { ...state, local: false })
    this.#rewriter.edits.close(node.end, '}')
  }

  /** What is owed by the counted loops that are left, from the innermost on. */
  #leaving(targets: readonly Target[], position: number): string {
    return targets.map((target) => target.leaving?.(position, false) ?? '').join('')
  }

  jump(node: Extract<AnyNode, { type: 'BreakStatement' | 'ContinueStatement' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.#rewriter.isBig))
    const name = node.label?.name
    const index = state.targets.findLastIndex(({ labels, loop, switched }) =>
      name !== undefined ? labels.includes(name) : loop || (switched && node.type === 'BreakStatement'),
    )
    const target = state.targets[index]
    const left = state.targets.slice(index + 1)
    const exit = node.type === 'BreakStatement' ? target?.exit : undefined
    const leavesLocal = state.local && !target?.local
    const owes = node.type === 'BreakStatement' && target?.leaving
    if (!owes && !leavesLocal && !left.some(({ leaving }) => leaving)) return
    const owed = () => {
      const own = node.type === 'BreakStatement' ? (target?.leaving?.(node.start, true) ?? '') : ''
      const local = leavesLocal ? this.#rewriter.counting.flush(state.region.cell) : ''
      return `${this.#leaving(left, node.start)}${own}${local}`
    }
    this.#rewriter.edits.replace(node.start, node.end, () => {
      const jump = exit ? `break ${exit}` : this.#rewriter.edits.text(node.start, node.end).replace(/;$/, '')
      return `{${owed()}${jump};}`
    })
  }
}
