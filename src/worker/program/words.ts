/** What programs do, and what is wrong with them, in words. */

/** No connection came about, so nothing was sent. */
export function isRefused({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH'
}

/** For messages: 500 ms, 2 s, 30 s. */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(1))} s`
}

/** What a request to a program came to that brought no whole answer. */
export function callFault(error: NodeJS.ErrnoException, hasHead: boolean): string {
  const { code = '', message } = error
  if (code.startsWith('HPE_')) return `answered with what is not HTTP (${message})`
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up' || message === 'aborted') {
    return hasHead ? 'broke off its answer' : 'closed the connection without an answer'
  }
  return hasHead ? `broke off its answer: ${message}` : `did not answer: ${message}`
}
