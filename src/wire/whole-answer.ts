/** A complete answer, as fronts cache and exchange it. */

/** Headers that describe the job. */
export type Account = Record<string, string>

export interface WholeAnswer {
  status: number
  /** The workload's own headers. */
  fields: Record<string, string | string[]>
  body: Buffer
}
