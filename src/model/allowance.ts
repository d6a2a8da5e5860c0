/** What a rate limit leaves its client, in seconds of a core, for the fields `RateLimit-Policy` and `RateLimit`. */
export interface Allowance {
  /** What the client may use at most at once, and the time in which that becomes available again. */
  quota: number
  windowS: number
  /** What it may use now; negative: a debt. */
  left: number
  /** When it may use the whole quota again. */
  fullS: number
}
