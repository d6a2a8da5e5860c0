/** Resolves when the stream accepts more, or is closed. `limit` calls `giveUp` after `ms` without either. */
export function drained(
  stream: Pick<NodeJS.EventEmitter, 'on' | 'off'>,
  limit?: { ms: number; giveUp(): void },
): Promise<void> {
  return new Promise((resolve) => {
    const timer = limit && setTimeout(limit.giveUp, limit.ms)
    const go = () => {
      clearTimeout(timer)
      stream.off('drain', go)
      stream.off('close', go)
      resolve()
    }
    stream.on('drain', go)
    stream.on('close', go)
  })
}
