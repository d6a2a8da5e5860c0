/** A complete answer, as fronts keep it and hand it to each other. */

/** Headers that say what is known of the job. */
export type Account = Record<string, string>

/** An answer of a workload that is complete. */
export interface WholeAnswer {
  status: number
  /** The workload's own headers. */
  fields: Record<string, string>
  body: Buffer
}
