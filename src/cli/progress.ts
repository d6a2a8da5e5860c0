/** A line on the terminal that shows how far something is. Where there is no terminal, it shows nothing. */

export interface Progress {
  show(fraction: number, what: string): void
  /** Removes the line. */
  done(): void
}

export function progressLine(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { show() {}, done() {} }
  const width = 24
  let last = 0
  return {
    show(fraction, what) {
      const now = performance.now()
      if (now - last < 50) return
      last = now
      const full = Math.min(width, Math.round(fraction * width))
      const percent = `${Math.floor(fraction * 100)}`.padStart(3)
      stream.write(`\r${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent} %  ${what}\u001b[K`)
    },
    done() {
      stream.write('\r\u001b[K')
    },
  }
}
