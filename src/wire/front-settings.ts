/** What fronts are told of their limits and of answers that they may give again. */

export interface BodyLimits {
  /** Longer bodies are refused. */
  maxBytes: number
  /** Longer bodies go to a temporary file. */
  memoryBytes: number
}

export interface FrontLimits extends BodyLimits {
  /** Largest request head. */
  headerBytes: number
  /** A request must have arrived whole within this time; one to a program must go on arriving instead. */
  requestMs: number
  /** A client that takes nothing of its answer for so long is cut off. */
  stallMs: number
  /** A program's short answer is held back for at most this time, so that another worker can still answer. */
  holdMs: number
}

export interface RepeatOptions {
  /** Answers are kept, so many bytes of them. Default: none. */
  cacheBytes?: number
  /** Those that are older are not given again. Default: of any age. */
  cacheAgeMs?: number
  /** True: the same requests at the same time share one job. */
  coalesce?: boolean
}
