/** One front's place at the public port: which processes it has, and which it should have. */

export interface SeatedFront {
  id: string
  /** Grows with each replacement. */
  generation: number
  state: 'starting' | 'listening' | 'leaving'
}

export interface SeatSteps<F extends SeatedFront> {
  /** True: a front of the wanted generation is missing. */
  launch: boolean
  /** To finish their requests and end, because a successor listens. */
  leave: readonly F[]
  /** To end at once: they have no requests yet, and nobody needs them. */
  end: readonly F[]
}

/** What leads to exactly one front of the wanted generation, whatever happened to the others. */
export function seatSteps<F extends SeatedFront>(fronts: readonly F[], wanted: number): SeatSteps<F> {
  const staying = fronts.filter(({ state }) => state !== 'leaving')
  const ours = staying.filter(({ generation }) => generation === wanted)
  const chosen = ours.find(({ state }) => state === 'listening') ?? ours[0]
  const others = staying.filter((front) => front !== chosen)
  const hasSuccessor = chosen?.state === 'listening'
  return {
    launch: chosen === undefined,
    leave: hasSuccessor ? others.filter(({ state }) => state === 'listening') : [],
    end: others.filter(({ state }) => state === 'starting'),
  }
}

/** The generation to want after a front ended while it started: that of a front that listens, if there is one. */
export function wantedAfterFailure(fronts: readonly SeatedFront[], wanted: number): number {
  if (fronts.some(({ generation, state }) => generation === wanted && state !== 'leaving')) return wanted
  return fronts.find(({ state }) => state === 'listening')?.generation ?? wanted
}
