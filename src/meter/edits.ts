/** Collects insertions and applies them in the order that nesting demands, with a source map. */
import MagicString, { type SourceMap } from 'magic-string'

type Text = string | (() => string)

interface Edit {
  at: number
  /** What closes a piece goes before what opens the next at the same place. */
  opens: boolean
  depth: number
  text: Text
}

export class Edits {
  readonly #source: string
  readonly #edits: Edit[] = []
  readonly #replacements: { start: number; end: number; text: Text }[] = []
  /** Where the function starts whose pieces come next: functions inside others may come in any order. */
  depth = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Of several at one place the first comes first, so ask for the outer one before the inner one. */
  open(at: number, text: Text): void {
    this.#edits.push({ at, opens: true, depth: 0, text })
  }

  /** Of several at one place the first comes first, so ask for the inner one before the outer one. */
  close(at: number, text: Text): void {
    this.#edits.push({ at, opens: false, depth: this.depth, text })
  }

  replace(start: number, end: number, text: Text): void {
    this.#replacements.push({ start, end, text })
  }

  text(start: number, end: number): string {
    return this.#source.slice(start, end)
  }

  /** Where the text that a sticky pattern finds at a place ends. */
  match(pattern: RegExp, at: number): number {
    pattern.lastIndex = at
    return pattern.test(this.#source) ? pattern.lastIndex : at
  }

  /** No insertion holds a line break, so lines stay where they were; the map is for columns. */
  apply(file: string): { code: string; map: () => SourceMap } {
    const result = new MagicString(this.#source)
    for (const { start, end, text } of this.#replacements) result.overwrite(start, end, written(text))
    const order = this.#edits.toSorted(
      (a, b) => a.at - b.at || Number(a.opens) - Number(b.opens) || b.depth - a.depth,
    )
    let before = { at: -1, text: '' }
    for (const { at, text } of order) {
      const value = written(text)
      if (value === '') continue
      // A keyword may stand right before what had to have no blank: `of[1]`, `return"text"`.
      const last = before.at === at ? before.text : this.#source.slice(Math.max(0, at - 1), at)
      const apart = /[\w$\u0080-\uffff]$/.test(last) && /^[\w$]/.test(value) ? ' ' : ''
      result.appendLeft(at, apart + value)
      before = { at, text: value }
    }
    return { code: result.toString(), map: () => result.generateMap({ source: file, hires: 'boundary' }) }
  }
}

function written(text: Text): string {
  return typeof text === 'string' ? text : text()
}
