/** EC2 by the AWS SDK. */

import type { DescribeInstancesCommandOutput, Instance, RunInstancesCommandInput } from '@aws-sdk/client-ec2'
import { workerNameOf } from '../../model/worker.ts'
import { awsError } from '../aws-error.ts'
import { checkPackage } from '../optional-package.ts'
import type { Ec2Api, Machine, RunRequest } from './api.ts'
import { textOf } from './choices.ts'
import type { Ec2Settings } from './settings.ts'

/** Tags of instances and volumes. */
export const [clusterTag, launchTag] = ['plimsoll:cluster', 'plimsoll:launch']

const [connectMs, answerMs] = [5_000, 15_000]
const pageSize = 500

/** Rejects with a `ConfigError` if the SDK is not installed. */
export async function sdkApi(settings: Ec2Settings): Promise<Ec2Api> {
  checkPackage('@aws-sdk/client-ec2', '--fleet = ec2')
  const sdk = await import('@aws-sdk/client-ec2')
  const client = new sdk.EC2Client({
    ...(settings.region !== undefined && { region: settings.region }),
    // The fleet repeats calls itself, with its own client tokens and its own pauses.
    maxAttempts: 1,
    requestHandler: { connectionTimeout: connectMs, requestTimeout: answerMs },
  })
  const region = await client.config.region().catch((error: unknown) => {
    throw awsError(error, { action: 'ec2:RunInstances', resource: 'instances', region: '' })
  })
  const attempt = async <T>(action: string, resource: string, call: () => Promise<T>): Promise<T> => {
    try {
      return await call()
    } catch (error) {
      throw awsError(error, { action: `ec2:${action}`, resource, region })
    }
  }
  const { cluster } = settings
  return {
    region,
    run: (request) =>
      attempt('RunInstances', resourceOf(settings, request), async () => {
        const { Instances } = await client.send(new sdk.RunInstancesCommand(runInput(settings, request)))
        return Instances![0]!.InstanceId!
      }),
    tryRun: (request) =>
      attempt('RunInstances', resourceOf(settings, request), async () => {
        const input = { ...runInput(settings, request), ClientToken: undefined, DryRun: true }
        await client.send(new sdk.RunInstancesCommand(input)).catch((error: Error) => {
          if (error.name !== 'DryRunOperation') throw error
        })
      }),
    machines: (launch) =>
      attempt('DescribeInstances', `cluster ${cluster}`, async () => {
        const filters = [
          { Name: `tag:${clusterTag}`, Values: [cluster] },
          // Other machines may carry the name of the cluster, such as that of the balancer.
          launch === undefined
            ? { Name: 'tag-key', Values: [launchTag] }
            : { Name: `tag:${launchTag}`, Values: [launch] },
        ]
        const found: Machine[] = []
        let next: string | undefined
        do {
          const page: DescribeInstancesCommandOutput = await client.send(
            new sdk.DescribeInstancesCommand({ Filters: filters, MaxResults: pageSize, NextToken: next }),
          )
          for (const { Instances = [] } of page.Reservations ?? []) found.push(...Instances.map(machineOf))
          next = page.NextToken
        } while (next)
        return found
      }),
    terminate: (id) =>
      attempt('TerminateInstances', `instance ${id}`, async () => {
        await client.send(new sdk.TerminateInstancesCommand({ InstanceIds: [id] }))
      }),
    close: () => client.destroy(),
  }
}

function machineOf({ InstanceId, Tags = [], State, LaunchTime, StateReason }: Instance): Machine {
  const reason = StateReason?.Message
  return {
    id: InstanceId!,
    launch: Tags.find(({ Key }) => Key === launchTag)?.Value ?? '',
    isEnded: State?.Name === 'shutting-down' || State?.Name === 'terminated',
    since: LaunchTime?.getTime() ?? 0,
    ...(reason !== undefined && { reason }),
  }
}

function resourceOf({ image, template }: Ec2Settings, { choice }: RunRequest): string {
  const what = image === undefined ? `launch template ${template?.name}` : `image ${image}`
  const as = textOf(choice)
  return as === '' ? what : `${what} as ${as}`
}

function runInput(
  settings: Ec2Settings,
  { launch, choice, clientToken, userData }: RunRequest,
): RunInstancesCommandInput {
  const { cluster, template, image, securityGroups, profile, spot, detailedMonitoring } = settings
  const Tags = [
    { Key: 'Name', Value: `${cluster} ${workerNameOf(launch)}` },
    { Key: clusterTag, Value: cluster },
    { Key: launchTag, Value: launch },
  ]
  return {
    ...{ MinCount: 1, MaxCount: 1, ClientToken: clientToken },
    UserData: Buffer.from(userData).toString('base64'),
    TagSpecifications: [
      { ResourceType: 'instance', Tags },
      { ResourceType: 'volume', Tags },
    ],
    // The worker's script shuts the instance down when the worker has ended.
    InstanceInitiatedShutdownBehavior: 'terminate',
    MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1, HttpEndpoint: 'enabled' },
    ...(template && { LaunchTemplate: templateOf(template) }),
    ...(image !== undefined && { ImageId: image }),
    ...(choice.type !== undefined && {
      InstanceType: choice.type as RunInstancesCommandInput['InstanceType'],
    }),
    ...(choice.subnet !== undefined && { SubnetId: choice.subnet }),
    ...(securityGroups.length > 0 && { SecurityGroupIds: [...securityGroups] }),
    ...(profile !== undefined && {
      IamInstanceProfile: profile.startsWith('arn:') ? { Arn: profile } : { Name: profile },
    }),
    ...(spot && { InstanceMarketOptions: { MarketType: 'spot' as const } }),
    ...(detailedMonitoring && { Monitoring: { Enabled: true } }),
  }
}

function templateOf({ name, version }: NonNullable<Ec2Settings['template']>) {
  const by = name.startsWith('lt-') ? { LaunchTemplateId: name } : { LaunchTemplateName: name }
  return { ...by, Version: version ?? '$Default' }
}
