/** CPU utilisation of EC2 instances, from CloudWatch. */

/** A metric's data, newest first. */
export interface MetricData {
  id: string
  /** In percent. */
  values: readonly number[]
}

export interface MetricQuery {
  id: string
  instance: string
}

/** What is needed of CloudWatch. All methods reject with `AwsError`. */
export interface CloudWatchApi {
  /** Average CPU utilisation of each instance by minute, since this time. */
  cpu(queries: readonly MetricQuery[], since: Date, until: Date): Promise<readonly MetricData[]>
  close(): void
}

/** AWS accepts no more queries in one call. */
const mostQueries = 500
/** Data points may come minutes late. Older ones say nothing about now. */
const windowMs = 10 * 60_000

/**
 * The newest data point of each instance, as a share from 0 to 1. An instance without a data point is left out, because no
 * data does not mean that it is idle.
 */
export async function readCpu(
  api: Pick<CloudWatchApi, 'cpu'>,
  instances: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const shares = new Map<string, number>()
  for (let from = 0; from < instances.length; from += mostQueries) {
    const queries = instances
      .slice(from, from + mostQueries)
      .map((instance, at) => ({ id: `m${at}`, instance }))
    const data = await api.cpu(queries, new Date(now - windowMs), new Date(now))
    const byId = new Map(data.map(({ id, values }) => [id, values[0]]))
    for (const { id, instance } of queries) {
      const percent = byId.get(id)
      if (percent !== undefined) shares.set(instance, Math.min(1, Math.max(0, percent / 100)))
    }
  }
  return shares
}
