/** The figure that the runs are compared by. */
import { quantile } from '../../src/simulate/summary.ts'

/** The shortest part of all requests, by their time alone on a warm worker. */
export const shortPart = 0.9

export interface Served {
  sizeMs: number
  responseMs: number
}

/** 99th percentile of the slowdown (response time ÷ time alone) of short requests. */
export function shortP99Of(served: readonly Served[], shortMs: number): number {
  return slowdownOf(served, (sizeMs) => sizeMs <= shortMs, 0.99)
}

export function slowdownOf(
  served: readonly Served[],
  belongs: (sizeMs: number) => boolean,
  part: number,
): number {
  const slowdowns = served.filter(({ sizeMs }) => belongs(sizeMs)).map((job) => job.responseMs / job.sizeMs)
  return quantile(
    slowdowns.sort((a, b) => a - b),
    part,
  )
}
