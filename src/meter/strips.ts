/**
 * Rewrites a loop so that it counts its turns and nothing else inside. A loop that reports runs in strips of so many
 * turns, and reports between them; one that need not is a single strip.
 *
 *     for (let i = 0; i < n; i++) body
 *     { let i = 0; let S = i, E; L: for (;;) { E = i + 1000; for (; i !== E && (i < n); i++) body
 *       if (i !== E) break; N = report(N + (i - S) * k); S = i } N = N + (i - S) * k }
 */
import type { AnyNode } from 'acorn'
import type { Counted } from './counted.ts'
import { names, prefix } from './names.ts'
import type { Rewriter } from './rewrite.ts'
import type { Target } from './state.ts'
import { hasClosure, type Loop } from './tree.ts'

export interface StripOptions {
  rewriter: Rewriter
  /** Numbers the loops of a file. */
  serial: number
  /** The loop's own variable, if its turns can be read off it; else one of ours counts. */
  counted: Counted | undefined
  /** What a turn costs: known once all of it was visited. */
  units(): number
  /** A turn neither loops nor calls, so that its units say how long it takes. */
  plain: boolean
  reports: boolean
}

export interface Strip {
  /** What it takes to leave the loop from inside. */
  target: Pick<Target, 'leaving' | 'exit'>
  /** To be called when all of the loop was visited. */
  close(): void
}

type Stripped = Extract<Loop, { type: 'ForStatement' | 'WhileStatement' }>

/** Undefined: the loop cannot be written so. */
export function inStrips(loop: Stripped, options: StripOptions): Strip | undefined {
  const { rewriter, serial, counted, units, plain, reports } = options
  const { edits } = rewriter
  const init = loop.type === 'ForStatement' ? loop.init : undefined
  const perTurn = init?.type === 'VariableDeclaration' && init.kind !== 'var'
  // Taken out of the loop, a variable would no longer be another one in each turn.
  if (reports && perTurn && hasClosure(loop)) return undefined

  // Where a turn may take long, to look at the count in each costs less than another loop around.
  if (reports && !plain) return undefined

  // Between strips a fraction might be rounded, and never be the end that was set.
  const own = counted && (counted.whole || !reports) ? speakable(counted, edits.text.bind(edits)) : undefined
  const [start, end, exit, ours] = ['S', 'E', 'L', 'I'].map((letter) => `${prefix}${letter}${serial}`)
  const { name, step, updateEnd } = own ?? { name: ours!, step: 1, updateEnd: undefined }
  const bound = reports ? own?.bound : undefined

  /** Turns of a strip, as a distance of the variable. */
  const length = (): number => {
    const { fullAt } = rewriter.counting
    return Math.max(Math.min(64, fullAt), Math.floor(fullAt / Math.max(1, units()))) * step
  }
  const turnsCost = (): string => {
    const distance = own ? `(${name}-${start})` : name
    if (own && !own.whole) return `(${distance}${step === 1 ? '' : `/${step}`}+.5|0)*${units()}`
    const by = units() / step
    return Number.isInteger(by) ? `${distance}*${by}` : `${distance}/${step}*${units()}`
  }
  const again = own ? `${start}=${name}` : `${name}=0`
  const count = (more: string): string => `${names.local}=${names.local}${more};`
  const header = (): string => {
    const first = own ? `let ${start}=${name}` : `let ${name}=0`
    if (!reports) return `${first};`
    const ahead = `${name}+${length()}`
    const limit = bound && edits.text(bound.node.start, bound.node.end)
    const next = limit ? `(${limit})-${name}${step > 0 ? '>' : '<'}${length()}?${ahead}:${limit}` : ahead
    // So large that a step is lost in it, the variable would stay where it is.
    return `${first},${end};${exit}:for(;;){${end}=${next};if(${end}===${name})${end}=${limit ?? 'NaN'};`
  }

  if (init && (own || reports)) takeOut(loop, init, header, edits)
  else edits.open(loop.start, () => `{${header()}`)
  if (reports) {
    const { test } = loop
    const lines = bound ? lineBreaks(edits.text(test!.start, test!.end)) : ''
    if (bound) edits.replace(test!.start, test!.end, `${name}${bound.operator}${lines}${end}`)
    else if (test) edits.open(test.start, `${name}!==${end}&&(`)
    else edits.open(afterFirstSemicolon(loop, edits), `${name}!==${end}`)
  }

  return {
    target: {
      ...(reports && { exit: exit! }),
      /** A turn that is left in the middle counts as a whole one. */
      leaving: (position, itself) => {
        const partial = updateEnd === undefined || position < updateEnd ? `+${units()}` : ''
        // At the loop's own exit the turns are counted by what follows it.
        if (itself) return partial && count(partial)
        // A `finally` on the way might stay in the loop after all.
        return `${count(`+${turnsCost()}${partial}`)}${again};`
      },
    },
    close: () => {
      // After what the visit put at the same places.
      if (reports && !bound && loop.test) edits.close(loop.test.end, ')')
      if (!own) addUpdate(loop, `${name}=${name}+1`, edits)
      edits.close(loop.end, () => {
        if (!reports) return `;${count(`+${turnsCost()}`)}}`
        const done = `${names.local}+${turnsCost()}`
        const finished = bound
          ? `!(${name}${bound.operator}${edits.text(bound.node.start, bound.node.end)})`
          : `${name}!==${end}`
        return `;if(${finished})break;${names.local}=${names.fold}(${done});${again};}${count(`+${turnsCost()}`)}}`
      })
    },
  }
}

type Source = Rewriter['edits']

/** The bound is written again elsewhere, where neither a comment nor a line break may go. */
function speakable(counted: Counted, text: (start: number, end: number) => string): Counted {
  const { bound, ...others } = counted
  if (!bound || !/[\n\r\u2028\u2029]|\/[/*]/.test(text(bound.node.start, bound.node.end))) return counted
  return others
}

/** Blanks and comments. */
const gap = '(?:\\s|//.*|/\\*(?:[^*]|\\*(?!/))*\\*/)*'
const uptoInit = new RegExp(`for${gap}\\(`, 'y')
const uptoTest = new RegExp(`while${gap}\\(`, 'y')
const afterInit = new RegExp(`(?:${gap}\\))*${gap}`, 'y')

/** Puts what the loop starts with before it. Lines stay where they were. */
function takeOut(loop: Stripped, init: AnyNode, header: () => string, edits: Source): void {
  const start = edits.match(uptoInit, loop.start)
  const end = edits.match(afterInit, init.end)
  // As a statement, an expression may not begin with just anything.
  const expression = init.type !== 'VariableDeclaration'
  edits.replace(loop.start, start, `{${lineBreaks(edits.text(loop.start, start))}${expression ? '(' : ''}`)
  edits.open(end, () => `${expression ? ')' : ''};${header()}for(`)
}

/** Something that is done after each turn, also one that ends with `continue`. */
function addUpdate(loop: Stripped, update: string, edits: Source): void {
  if (loop.type === 'ForStatement' && loop.update) return edits.close(loop.update.end, `,${update}`)
  if (loop.type === 'WhileStatement') {
    const head = edits.match(uptoTest, loop.start)
    edits.replace(loop.start, head, `for(${lineBreaks(edits.text(loop.start, head))};`)
    return edits.open(closingParenthesis(loop, edits), `;${update}`)
  }
  edits.open(closingParenthesis(loop, edits), update)
}

function closingParenthesis(loop: Stripped, edits: Source): number {
  const after = loop.test?.end ?? (loop.type === 'ForStatement' ? loop.init?.end : undefined) ?? loop.start
  return after + withoutComments(edits.text(after, loop.body.start)).lastIndexOf(')')
}

function afterFirstSemicolon(loop: Stripped, edits: Source): number {
  const after = (loop.type === 'ForStatement' ? loop.init?.end : undefined) ?? loop.start
  return after + withoutComments(edits.text(after, loop.body.start)).indexOf(';') + 1
}

function withoutComments(text: string): string {
  return text.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, (comment) => ' '.repeat(comment.length))
}

function lineBreaks(text: string): string {
  return text.replace(/[^\n\r\u2028\u2029]/g, '')
}
