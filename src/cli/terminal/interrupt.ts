/** Ctrl-C for commands that have something to clear away before they end. */

/** What a shell reports of a program that SIGINT ended. */
export const interruptedCode = 130

/** Runs `work`; on SIGINT or SIGTERM its signal is aborted, and what it then rejects with becomes the exit code. */
export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, onSignal)
  try {
    const code = await work(stop.signal)
    return stop.signal.aborted ? interruptedCode : code
  } catch (error) {
    if (stop.signal.aborted) return interruptedCode
    throw error
  } finally {
    for (const signal of signals) process.off(signal, onSignal)
  }
}
