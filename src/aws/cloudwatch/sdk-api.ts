/** CloudWatch by the AWS SDK. */

import type { GetMetricDataCommandOutput, MetricDataQuery } from '@aws-sdk/client-cloudwatch'
import { awsError } from '../aws-error.ts'
import { checkPackage } from '../optional-package.ts'
import type { CloudWatchApi, MetricQuery } from './cpu-metrics.ts'

const [connectMs, answerMs] = [5_000, 15_000]
const periodSeconds = 60

/** Rejects with a `ConfigError` if the SDK is not installed. */
export async function cloudWatchApi(region: string): Promise<CloudWatchApi> {
  checkPackage('@aws-sdk/client-cloudwatch', '--cpu = cloudwatch')
  const sdk = await import('@aws-sdk/client-cloudwatch')
  const client = new sdk.CloudWatchClient({
    region,
    requestHandler: { connectionTimeout: connectMs, requestTimeout: answerMs },
  })
  return {
    async cpu(queries, since, until) {
      const values = new Map<string, number[]>()
      let next: string | undefined
      do {
        const page: GetMetricDataCommandOutput = await client
          .send(
            new sdk.GetMetricDataCommand({
              MetricDataQueries: queries.map(queryOf),
              StartTime: since,
              EndTime: until,
              ScanBy: 'TimestampDescending',
              NextToken: next,
            }),
          )
          .catch((error: unknown) => {
            const resource = `CPUUtilization of ${queries.length} instances`
            throw awsError(error, { action: 'cloudwatch:GetMetricData', resource, region })
          })
        // The data of one metric may be spread over several pages.
        for (const { Id = '', Values = [] } of page.MetricDataResults ?? [])
          values.set(Id, [...(values.get(Id) ?? []), ...Values])
        next = page.NextToken
      } while (next)
      return [...values].map(([id, all]) => ({ id, values: all }))
    },
    close: () => client.destroy(),
  }
}

function queryOf({ id, instance }: MetricQuery): MetricDataQuery {
  const Dimensions = [{ Name: 'InstanceId', Value: instance }]
  const Metric = { Namespace: 'AWS/EC2', MetricName: 'CPUUtilization', Dimensions }
  return { Id: id, MetricStat: { Metric, Period: periodSeconds, Stat: 'Average' } }
}
