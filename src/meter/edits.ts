/** Collects insertions and applies them in nesting order, with a source map. */
import MagicString, { type SourceMap } from 'magic-string'
import { leanMap } from './lean-map.ts'

type Text = string | (() => string)

interface Edit {
  at: number
  /** At the same position, closing text goes before opening text. */
  opens: boolean
  depth: number
  text: Text
}

export class Edits {
  readonly #source: string
  readonly #edits: Edit[] = []
  readonly #replacements: { start: number; end: number; text: Text }[] = []
  /** Start of the function that is being edited: nested functions may be edited in any order. */
  depth = 0

  constructor(source: string) {
    this.#source = source
  }

  /** At the same position, texts stand in the order of these calls: insert the outer one first. */
  open(at: number, text: Text): void {
    this.#edits.push({ at, opens: true, depth: 0, text })
  }

  /** At the same position, texts stand in the order of these calls: insert the inner one first. */
  close(at: number, text: Text): void {
    this.#edits.push({ at, opens: false, depth: this.depth, text })
  }

  replace(start: number, end: number, text: Text): void {
    this.#replacements.push({ start, end, text })
  }

  text(start: number, end: number): string {
    return this.#source.slice(start, end)
  }

  /** The end of the match of a sticky pattern at a position, or the position itself. */
  match(pattern: RegExp, at: number): number {
    pattern.lastIndex = at
    return pattern.test(this.#source) ? pattern.lastIndex : at
  }

  /**
   * Insertions contain no line breaks, so line numbers do not change; the source map corrects columns. `tokens`: where tokens
   * start.
   */
  apply(file: string, tokens: ReadonlySet<number>): { code: string; map: () => SourceMap } {
    const result = new MagicString(this.#source)
    for (const { start, end, text } of this.#replacements) result.overwrite(start, end, textOf(text))
    const order = this.#edits.toSorted(
      (a, b) => a.at - b.at || Number(a.opens) - Number(b.opens) || b.depth - a.depth,
    )
    let before = { at: -1, text: '' }
    for (const { at, text } of order) {
      const value = textOf(text)
      if (value === '') continue
      // A keyword may directly precede the position: `of[1]`, `return"text"`.
      const last = before.at === at ? before.text : this.#source.slice(Math.max(0, at - 1), at)
      const blank = /[\w$\u0080-\uffff]$/.test(last) && /^[\w$]/.test(value) ? ' ' : ''
      result.appendLeft(at, blank + value)
      before = { at, text: value }
    }
    const map = () =>
      leanMap(result.generateDecodedMap({ source: file, hires: 'boundary' }), this.#source, tokens)
    return { code: result.toString(), map }
  }
}

function textOf(text: Text): string {
  return typeof text === 'string' ? text : text()
}
