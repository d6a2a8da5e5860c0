/** Ctrl-C for commands that must clean up before they end. */

/** The exit code of a program ended by SIGINT. */
export const interruptedCode = 130

/** Runs `work`. SIGINT and SIGTERM abort its signal; a rejection after that becomes the exit code. */
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
