/** The most that `maxParamsBytes` may allow: the largest body of a request to a workload. */
export const largestParams = 16 * 1024 * 1024
