/** Tables and numbers for people to read. */

import { terminalWidth, wrapWords } from './width.ts'

/** Text columns are wrapped to no fewer characters than this. */
const leastText = 20
const gap = '  '

/**
 * Columns named in `left` are aligned to the left, the others to the right. If the table is wider than `width`, titles and
 * texts are wrapped; columns that still do not fit follow below, with the first column repeated.
 */
export function table(
  head: string[],
  rows: string[][],
  left: readonly number[] = [0],
  width = terminalWidth(),
): string {
  const cells = head.map((_, column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  const natural = head.map((title, column) => Math.max(title.length, cells[column]!))
  if (total(natural) <= width) return block(head, rows, left, natural)
  const narrow = head.map((title, column) => Math.max(longestWord(title), cells[column]!))
  const texts = left.filter((column) => column > 0 && narrow[column]! > leastText)
  // The widest text gives way first.
  for (const column of texts.sort((a, b) => narrow[b]! - narrow[a]!)) {
    const over = total(narrow) - width
    if (over > 0) narrow[column] = Math.max(leastText, narrow[column]! - over)
  }
  return groups(narrow, width)
    .map((columns) => {
      const pick = <T>(values: readonly T[]) => columns.map((column) => values[column]!)
      const aligned = columns.flatMap((column, i) => (left.includes(column) ? [i] : []))
      return block(pick(head), rows.map(pick), aligned, pick(narrow))
    })
    .join('\n\n')
}

/** The columns of each block: as many as fit beside the first, at least one. */
function groups(widths: readonly number[], width: number): number[][] {
  const all = [[0]]
  for (let column = 1; column < widths.length; column++) {
    const block = all.at(-1)!
    const fits = total([...block, column].map((each) => widths[each]!)) <= width
    if (fits || block.length === 1) block.push(column)
    else all.push([0, column])
  }
  return all
}

function block(head: string[], rows: string[][], left: readonly number[], widths: readonly number[]): string {
  const line = (cells: string[]) =>
    cells
      .map((cell, column) =>
        left.includes(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join(gap)
      .trimEnd()
  /** A row is as many lines as its longest cell; titles stand at the bottom of theirs. */
  const lines = (cells: string[], atBottom = false) => {
    const wrapped = cells.map((cell, column) => wrapWords(cell, widths[column]!))
    const height = Math.max(...wrapped.map(({ length }) => length))
    return Array.from({ length: height }, (_, i) =>
      line(wrapped.map((each) => each[atBottom ? i - height + each.length : i] ?? '')),
    )
  }
  const rule = widths.map((width) => '─'.repeat(width)).join(gap)
  return [...lines(head, true), rule, ...rows.flatMap((row) => lines(row))].join('\n')
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1))
}

function longestWord(title: string): number {
  return Math.max(...title.split(' ').map(({ length }) => length))
}

/** 12.3 ms, 1.70 s, 2.5 min. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–'
  if (ms < 1000) return `${significant(ms)} ms`
  if (ms < 120_000) return `${significant(ms / 1000)} s`
  return `${significant(ms / 60_000)} min`
}

/** Three significant digits. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) < 0.005) return '0'
  // An unbounded estimate would have too many digits for a column.
  if (value >= 1e15) return value.toExponential(2).replace('e+', 'e')
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}
