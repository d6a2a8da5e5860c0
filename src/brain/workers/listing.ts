/** What the brain remembers from one list of the provider to the next. Times are those at which lists were asked for. */
export interface Listing {
  /** The newest list that counted; -1: none. */
  askedAt: number
  /** Known launches that lists do not name, and since when. */
  missing: Map<string, number>
  /** Launches that lists name more than once, and since when. */
  doubled: Map<string, number>
  /** Launches that the newest list names and the brain does not know, and since when all lists have named them. */
  strangers: Map<string, number>
}

export function newListing(): Listing {
  return { askedAt: -1, missing: new Map(), doubled: new Map(), strangers: new Map() }
}
