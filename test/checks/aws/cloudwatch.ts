/** CPU figures from CloudWatch: a worker without a data point has none, and then the newest one counts. */

import { CloudWatchClient, PutMetricDataCommand } from '@aws-sdk/client-cloudwatch'
import { credentials, region } from '../../stands/aws/ec2-stand.ts'
import type { Part } from './part.ts'
import { openStand } from './stand.ts'
import { UpProcess } from './up-process.ts'

export const cpuFromCloudWatch: Part = {
  name: 'cpu from cloudwatch',
  async run(say) {
    const open = await openStand('t3.micro', { bootMs: 300, lagMs: 500 })
    const { stand, moto } = open
    // Its minute is 2 s.
    const preset = ['--preset', 'hillclimbing', '--time-scale', '30', '--min', '1', '--max', '1']
    const up = new UpProcess({ stand, moto, args: [...open.args, ...preset, '--cpu', 'cloudwatch'] })
    const client = new CloudWatchClient({ endpoint: moto, region, credentials })
    const cpu = async () => (await up.state()).workers[0]?.cpu
    try {
      await up.url()
      await up.until('the scaler waits for a data point', async () =>
        (await up.state()).workers.some(({ fresh }) => fresh),
      )
      if ((await cpu()) !== null) throw new Error(`CPU is ${await cpu()} before there is a data point`)
      say('a worker without a data point is fresh')
      const [instance] = await up.alive()
      for (const percent of [42, 0]) {
        await client.send(new PutMetricDataCommand(dataOf(instance!.id, percent)))
        const share = percent === 42 ? 0.42 : 0.21
        await up.until(`CPU is ${share}`, async () => (await cpu()) === share)
        say(`CPU is ${share}`)
      }
      if ((await up.stop()) !== 0) throw new Error(up.lines.slice(-25).join('\n'))
      return await open.count()
    } finally {
      client.destroy()
      await up.kill()
      await open.close()
    }
  },
}

function dataOf(instance: string, percent: number) {
  const Dimensions = [{ Name: 'InstanceId', Value: instance }]
  const data = { MetricName: 'CPUUtilization', Dimensions, Timestamp: new Date(), Value: percent }
  return { Namespace: 'AWS/EC2', MetricData: [data] }
}
