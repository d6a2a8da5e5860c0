/**
 * Which of several clusters leads. They share a store, whose lease one of them holds; each holding is a term with a number that
 * grows. The epochs of brains tell the term in which they lead, so an attempt tells it, too.
 */

/** Epochs of a term. Without terms, epochs are seconds since 1970, which are fewer until 2106. */
const epochsEach = 2 ** 32

/** The first epoch of a term. */
export function epochOf(term: number): number {
  return term * epochsEach
}

/** The term of a brain with this epoch; 0: its cluster shares no store, or has not led yet. */
export function termOf(epoch: number): number {
  return Math.floor(epoch / epochsEach)
}

/** Sent to a worker or a front that wants to join the leader, or has joined it, if this cluster does not lead, or no more. */
export interface NotLeader {
  type: 'not-leader'
  message: string
}
