/** Programs that fronts may send small requests to directly, without their worker. */

/** On the worker's machine, or anywhere for an upstream. */
export type ProgramAddress = { host: string; port: number } | { path: string }

/** Of a worker. `concurrency`: requests that each may have at a time. */
export interface OpenPrograms {
  addresses: ProgramAddress[]
  concurrency: number
}
