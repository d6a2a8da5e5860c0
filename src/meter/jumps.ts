/** Rewrites jumps out of loops: before a jump, the local counts of the loops are saved. */
import type { AnyNode } from 'acorn'
import { addTo } from '../model/metrics.ts'
import type { NodeVisitor, RewriteContext } from './context.ts'
import { names } from './names.ts'
import { costOf } from './syntax-costs.ts'
import type { State, Target } from './visit-state.ts'

export class Jumps {
  readonly #context: RewriteContext
  readonly #visitor: NodeVisitor

  constructor(context: RewriteContext, visitor: NodeVisitor) {
    this.#context = context
    this.#visitor = visitor
  }

  /** Saves the counts of all enclosing loops before a `return` or `throw`. */
  leave(node: Extract<AnyNode, { type: 'ReturnStatement' | 'ThrowStatement' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.#context.isBig))
    if (!state.local) {
      if (node.argument) this.#visitor.visit(node.argument, state)
      return
    }
    // An exception leaves only the loops up to the `try` that catches it.
    const caught = node.type === 'ThrowStatement' ? state.targets.findLastIndex(({ catches }) => catches) : -1
    const targets = state.targets.slice(caught + 1)
    const flush = state.targets[caught]?.local
      ? ''
      : `${this.#context.counting.flush(state.region.cell)}${names.local}=0;`
    this.#context.edits.open(node.start, () => `{${this.#leaving(targets, node.start)}${flush}`)
    // The argument is evaluated after the flush, so it must not count in the local.
    if (node.argument) this.#visitor.visit(node.argument, { ...state, local: false })
    this.#context.edits.close(node.end, '}')
  }

  /** Code that saves the counts of the loops that are left. */
  #leaving(targets: readonly Target[], position: number): string {
    return targets.map((target) => target.leaving?.(position, false) ?? '').join('')
  }

  jump(node: Extract<AnyNode, { type: 'BreakStatement' | 'ContinueStatement' }>, state: State): void {
    addTo(state.region.tally, costOf(node, this.#context.isBig))
    const name = node.label?.name
    const index = state.targets.findLastIndex(({ labels, loop, switched }) =>
      name !== undefined ? labels.includes(name) : loop || (switched && node.type === 'BreakStatement'),
    )
    const target = state.targets[index]
    const left = state.targets.slice(index + 1)
    const exit = node.type === 'BreakStatement' ? target?.exit : undefined
    const leavesLocal = state.local && !target?.local
    const endsTarget = node.type === 'BreakStatement' && target?.leaving
    if (!endsTarget && !leavesLocal && !left.some(({ leaving }) => leaving)) return
    const saveCounts = () => {
      const own = node.type === 'BreakStatement' ? (target?.leaving?.(node.start, true) ?? '') : ''
      const local = leavesLocal ? this.#context.counting.flush(state.region.cell) : ''
      return `${this.#leaving(left, node.start)}${own}${local}`
    }
    this.#context.edits.replace(node.start, node.end, () => {
      const jump = exit ? `break ${exit}` : this.#context.edits.text(node.start, node.end).replace(/;$/, '')
      return `{${saveCounts()}${jump};}`
    })
  }
}
