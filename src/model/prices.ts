/** Prices of workers and functions, all in one currency. */
export interface Prices {
  /** A worker, per hour, from its launch to its termination. */
  workerHour: number
  /** Minimum billed time of a worker. */
  workerLeastMs: number
  /** Beyond that, a worker is billed in steps of this length; 3,600,000 bills every hour begun. */
  workerStepMs: number
  /** A function, per GB of memory and second, its start included. */
  gbSecond: number
  /** A function, per request. */
  request: number
}

/** Functions at the usual list price; workers are free until their price is known. */
export const usualPrices: Readonly<Prices> = {
  workerHour: 0,
  workerLeastMs: 0,
  workerStepMs: 1,
  gbSecond: 0.0000166667,
  request: 0.0000002,
}

/** One hour of a client's waiting is worth more than one hour of a machine. */
export const usualWaitingHour = 1
