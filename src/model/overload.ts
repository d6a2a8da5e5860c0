/** The overload of a process, in steps. */

/**
 * 0: none. 1: large bodies of new requests are not read. 2: also, requests are shed by predicted work and by their
 * client's share. 3: also, new connections are refused.
 */
export type OverloadStep = 0 | 1 | 2 | 3

/** What operators see. */
export interface OverloadStatus {
  step: OverloadStep
  /** From 0 to 1: how much is shed from step 2 on. */
  pressure: number
  /** What the step does, and why it was taken; undefined in step 0. */
  doing?: string
  why?: string
  /** How late the event loop was on average at the last reading, in milliseconds. Undefined: unknown. */
  loopMs?: number
  /** Requests whose bodies wait now. */
  held: number
  /** Counts since the start: requests shed or held too long, refused connections, and requests over a client's limit. */
  shed: number
  refusedConnections: number
  refusedRequests: number
}
