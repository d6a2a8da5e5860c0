/** Progress lines for terminals. Without a terminal, nothing is shown. */

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
      draw(stream, `${'█'.repeat(full)}${'░'.repeat(width - full)} ${percent} %  ${what}`)
    },
    done: () => erase(stream),
  }
}

const turns = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

/** A spinner with the elapsed time, or with a text that may change. Returns a function that removes it. */
export function waitingLine(
  what: string | ((elapsedMs: number) => string),
  stream: NodeJS.WriteStream = process.stderr,
): () => void {
  if (!stream.isTTY) return () => {}
  const began = performance.now()
  const text = typeof what === 'string' ? (ms: number) => `${what}  ${(ms / 1000).toFixed(1)} s` : what
  let turn = 0
  const show = () => {
    draw(stream, `${turns[turn++ % turns.length]} ${text(performance.now() - began)}`)
  }
  const timer = setInterval(show, 100)
  return () => {
    clearInterval(timer)
    if (turn > 0) erase(stream)
  }
}

/** Cut to the width of the terminal, because a wrapped line could not be overwritten. */
function draw(stream: NodeJS.WriteStream, text: string): void {
  stream.write(`\r${text.slice(0, (stream.columns || 80) - 1)}\u001b[K`)
}

function erase(stream: NodeJS.WriteStream): void {
  stream.write('\r\u001b[K')
}
