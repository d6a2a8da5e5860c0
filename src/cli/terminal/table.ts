/** Tables and numbers for people to read. */

/** Columns named in `left` are aligned to the left, the others to the right. */
export function table(head: string[], rows: string[][], left: readonly number[] = [0]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]!.length)),
  )
  const line = (cells: string[]) =>
    cells
      .map((cell, column) =>
        left.includes(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd()
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
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
