/**
 * Rewrites a loop so that the number of turns is its only counter. A loop that reports is strip-mined: it runs in
 * strips of a fixed number of turns and reports between them. A loop that does not report is a single strip.
 *
 *     for (let i = 0; i < n; i++) body
 *     { let i = 0; let S = i, E; L: for (;;) { E = i + 1000; for (; i !== E && (i < n); i++) body
 *       if (i !== E) break; N = report(N + (i - S) * k); S = i } N = N + (i - S) * k }
 */
import type { RewriteContext } from './context.ts'
import type { Counted } from './counted-loops.ts'
import { addUpdate, afterFirstSemicolon, type HeadedLoop, lineBreaks, moveInitBefore } from './loop-edits.ts'
import { names, prefix } from './names.ts'
import { hasClosure } from './tree.ts'
import type { Target } from './visit-state.ts'

export interface StripOptions {
  context: RewriteContext
  /** Number of the loop within its file. */
  serial: number
  /** The loop's own variable, if its turns can be derived from it; otherwise the meter adds a variable. */
  counted: Counted | undefined
  /** Cost of a turn; known once the whole loop was visited. */
  units(): number
  /** Whether a turn neither loops nor calls, so that its units determine its duration. */
  plain: boolean
  reports: boolean
}

/** Undefined: the loop cannot be rewritten this way. */
export function stripMine(loop: HeadedLoop, options: StripOptions): StripMinedLoop | undefined {
  const { plain, reports } = options
  const init = loop.type === 'ForStatement' ? loop.init : undefined
  const perTurn = init?.type === 'VariableDeclaration' && init.kind !== 'var'
  // Moved out of the loop, the variable would no longer be a new one in each turn.
  if (reports && perTurn && hasClosure(loop)) return undefined
  // If a turn may take long, checking the count in each turn costs less than an additional loop.
  if (reports && !plain) return undefined
  return new StripMinedLoop(loop, options)
}

export class StripMinedLoop {
  /** How jumps leave the loop. */
  readonly target: Pick<Target, 'leaving' | 'exit'>
  readonly #loop: HeadedLoop
  readonly #options: StripOptions
  /** The loop's own variable, if the turns are derived from it. */
  readonly #own: Counted | undefined
  readonly #name: string
  readonly #step: number
  /** Variables and label that the meter adds. */
  readonly #start: string
  readonly #end: string
  readonly #exit: string

  constructor(loop: HeadedLoop, options: StripOptions) {
    const { counted, reports, serial } = options
    this.#loop = loop
    this.#options = options
    // A fraction might be rounded between strips and never equal the end of its strip.
    this.#own = counted && (counted.whole || !reports) ? this.#repeatable(counted) : undefined
    this.#start = `${prefix}S${serial}`
    this.#end = `${prefix}E${serial}`
    this.#exit = `${prefix}L${serial}`
    this.#name = this.#own?.name ?? `${prefix}I${serial}`
    this.#step = this.#own?.step ?? 1
    this.target = {
      ...(reports && { exit: this.#exit }),
      leaving: (position, itself) => this.#leaving(position, itself),
    }
    this.#open()
  }

  /** Must be called after the whole loop was visited. */
  close(): void {
    const { reports } = this.#options
    const { edits } = this.#options.context
    const loop = this.#loop
    const bound = this.#bound()
    // Inserted after the text that the visit inserted at the same position.
    if (reports && !bound && loop.test) edits.close(loop.test.end, ')')
    if (!this.#own) addUpdate(loop, `${this.#name}=${this.#name}+1`, edits)
    edits.close(loop.end, () => {
      const counted = this.#count(`+${this.#turnsCost()}`)
      if (!reports) return `;${counted}}`
      const sum = `${names.local}+${this.#turnsCost()}`
      const finished = bound
        ? `!(${this.#name}${bound.operator}${edits.text(bound.node.start, bound.node.end)})`
        : `${this.#name}!==${this.#end}`
      return `;if(${finished})break;${names.local}=${names.fold}(${sum});${this.#restart()};}${counted}}`
    })
  }

  #open(): void {
    const loop = this.#loop
    const { edits } = this.#options.context
    const { reports } = this.#options
    const init = loop.type === 'ForStatement' ? loop.init : undefined
    if (init && (this.#own || reports)) moveInitBefore(loop, init, () => this.#header(), edits)
    else edits.open(loop.start, () => `{${this.#header()}`)
    if (!reports) return
    const { test } = loop
    const bound = this.#bound()
    if (bound) {
      const lines = lineBreaks(edits.text(test!.start, test!.end))
      edits.replace(test!.start, test!.end, `${this.#name}${bound.operator}${lines}${this.#end}`)
    } else if (test) edits.open(test.start, `${this.#name}!==${this.#end}&&(`)
    else edits.open(afterFirstSemicolon(loop, edits), `${this.#name}!==${this.#end}`)
  }

  /** The code before the loop: starts counting, and opens the loop over strips. */
  #header(): string {
    const name = this.#name
    const end = this.#end
    const first = this.#own ? `let ${this.#start}=${name}` : `let ${name}=0`
    if (!this.#options.reports) return `${first};`
    const length = this.#stripLength()
    const ahead = `${name}+${length}`
    const bound = this.#bound()
    const limit = bound && this.#options.context.edits.text(bound.node.start, bound.node.end)
    const next = limit ? `(${limit})-${name}${this.#step > 0 ? '>' : '<'}${length}?${ahead}:${limit}` : ahead
    // A variable so large that adding the step has no effect would never reach the end of its strip.
    return `${first},${end};${this.#exit}:for(;;){${end}=${next};if(${end}===${name})${end}=${limit ?? 'NaN'};`
  }

  /** A turn that is left in the middle counts as a whole one. */
  #leaving(position: number, itself: boolean): string {
    const updateEnd = this.#own?.updateEnd
    const partial = updateEnd === undefined || position < updateEnd ? `+${this.#options.units()}` : ''
    // At the loop's own exit, the code after the loop counts the turns.
    if (itself) return partial && this.#count(partial)
    // A `finally` on the way out may continue the loop, so counting starts again.
    return `${this.#count(`+${this.#turnsCost()}${partial}`)}${this.#restart()};`
  }

  /** Turns of a strip, as a distance of the variable. */
  #stripLength(): number {
    const { fullAt } = this.#options.context.counting
    const units = Math.max(1, this.#options.units())
    return Math.max(Math.min(64, fullAt), Math.floor(fullAt / units)) * this.#step
  }

  /** The cost of the turns since the last restart. */
  #turnsCost(): string {
    const step = this.#step
    const units = this.#options.units()
    const distance = this.#own ? `(${this.#name}-${this.#start})` : this.#name
    if (this.#own && !this.#own.whole) {
      return `(${distance}${step === 1 ? '' : `/${step}`}+.5|0)*${units}`
    }
    const factor = units / step
    return Number.isInteger(factor) ? `${distance}*${factor}` : `${distance}/${step}*${units}`
  }

  #restart(): string {
    return this.#own ? `${this.#start}=${this.#name}` : `${this.#name}=0`
  }

  #count(more: string): string {
    return `${names.local}=${names.local}${more};`
  }

  #bound(): Counted['bound'] {
    return this.#options.reports ? this.#own?.bound : undefined
  }

  /** The bound is repeated where neither a comment nor a line break may stand. */
  #repeatable(counted: Counted): Counted {
    const { bound, ...others } = counted
    if (!bound) return counted
    const text = this.#options.context.edits.text(bound.node.start, bound.node.end)
    return /[\n\r\u2028\u2029]|\/[/*]/.test(text) ? others : counted
  }
}
