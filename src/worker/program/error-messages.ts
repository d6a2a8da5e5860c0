/** Error messages about programs and connections to them. */

/** Whether no connection was established, so that nothing was sent. */
export function isConnectionRefused({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH'
}

/** For messages: 500 ms, 2 s, 30 s. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`
}

/** Describes why a request to a program has no complete answer. */
export function describeCallError(error: NodeJS.ErrnoException, hasHead: boolean): string {
  const { code = '', message } = error
  if (code.startsWith('HPE_')) return `sent an invalid HTTP response (${message})`
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up' || message === 'aborted') {
    return hasHead
      ? 'closed the connection before its answer was complete'
      : 'closed the connection without an answer'
  }
  return hasHead ? `did not complete its answer: ${message}` : `did not answer: ${message}`
}
