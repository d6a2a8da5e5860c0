/** The width of the terminal, and text that fits it. */

/** Infinity without a terminal: what another program reads is never wrapped. */
export function terminalWidth(stream: NodeJS.WriteStream = process.stdout): number {
  return stream.isTTY ? stream.columns || Number(process.env.COLUMNS) || 80 : Infinity
}

/** Lines of at most `width` characters. Breaks at spaces where possible, and words that are longer. */
export function wrapWords(text: string, width: number): string[] {
  if (text.length <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length <= width) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    for (line = word; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width))
  }
  return [...lines, line]
}

/** Wraps a line to the width of the terminal; further lines are indented. */
export function fitted(text: string, indent = 0, width = terminalWidth()): string {
  return wrapWords(text, Math.max(20, width - indent)).join(`\n${' '.repeat(indent)}`)
}
