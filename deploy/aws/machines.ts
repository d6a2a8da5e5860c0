/** The balancer's instance, and the launch template by which it launches workers. */

import { Fn, type Stack } from 'aws-cdk-lib'
import ec2 from 'aws-cdk-lib/aws-ec2'
import iam from 'aws-cdk-lib/aws-iam'
import { accept } from './accepted.ts'
import { joinPort, type Network } from './network.ts'
import type { Settings } from './settings.ts'

/** `teardown.sh` finds the balancer by it. */
const balancerTag = 'plimsoll:balancer'

/** Of the root volume. */
const diskGb = 8

const disk = [
  {
    deviceName: '/dev/xvda',
    ebs: { encrypted: true, volumeSize: diskGb, volumeType: 'gp3', deleteOnTermination: true },
  },
]

export function workerTemplate(
  stack: Stack,
  { name, instanceType }: Settings,
  { image, role, network }: { image: string; role: iam.Role; network: Network },
): ec2.CfnLaunchTemplate {
  return new ec2.CfnLaunchTemplate(stack, 'WorkerTemplate', {
    launchTemplateName: `${name}-worker`,
    launchTemplateData: {
      imageId: image,
      instanceType,
      iamInstanceProfile: { arn: profileOf(stack, 'WorkerProfile', role).attrArn },
      // A worker's script ends with a shutdown, after which the instance is of no use.
      instanceInitiatedShutdownBehavior: 'terminate',
      blockDeviceMappings: disk,
      metadataOptions: { httpTokens: 'required', httpPutResponseHopLimit: 1 },
      // CPU from CloudWatch is read every minute.
      monitoring: { enabled: true },
      networkInterfaces: [
        { deviceIndex: 0, associatePublicIpAddress: true, groups: [network.workerGroup.attrGroupId] },
      ],
    },
  })
}

export interface BalancerMachine {
  image: string
  role: iam.Role
  network: Network
  template: ec2.CfnLaunchTemplate
  hasFunctions: boolean
}

export function balancer(stack: Stack, settings: Settings, parts: BalancerMachine): ec2.CfnInstance {
  const { image, role, network } = parts
  const instance = new ec2.CfnInstance(stack, 'Balancer', {
    imageId: image,
    instanceType: settings.instanceType,
    iamInstanceProfile: profileOf(stack, 'BalancerProfile', role).ref,
    blockDeviceMappings: disk,
    monitoring: true,
    disableApiTermination: false,
    ebsOptimized: true,
    networkInterfaces: [
      {
        deviceIndex: '0',
        associatePublicIpAddress: true,
        groupSet: [network.balancerGroup.attrGroupId],
        subnetId: network.subnets[0]!.ref,
      },
    ],
    userData: Fn.base64(startBalancer(stack, settings, parts)),
    tags: [
      { key: 'Name', value: `${settings.name} balancer` },
      { key: balancerTag, value: settings.name },
    ],
  })
  accept(
    instance,
    { id: 'AwsSolutions-EC29', reason: 'What the balancer knows is in tables, and teardown.sh must end it.' },
    {
      id: 'CdkNagValidationFailure',
      reason: 'The rule on encrypted volumes expects a launch template; the volume is encrypted.',
    },
  )
  // The policy must be there when the balancer starts.
  instance.node.addDependency(role)
  return instance
}

/** Options of `plimsoll up`, in the file that the service of the image reads. */
function startBalancer(
  stack: Stack,
  { name, preset, minWorkers, maxWorkers, publicPort }: Settings,
  { network, template, hasFunctions }: BalancerMachine,
): string {
  const options = [
    `--preset ${preset} --port ${publicPort} --min ${minWorkers} --max ${maxWorkers}`,
    `--fleet ec2 --cluster ${name} --aws-region ${stack.region}`,
    `--ec2-template ${template.ref} --ec2-subnets ${network.subnets.map(({ ref }) => ref).join(',')}`,
    `--cpu cloudwatch --join-address 0.0.0.0:${joinPort}`,
    `--store dynamodb://${name}?region=${stack.region}`,
    ...(hasFunctions
      ? [`--function-provider lambda${preset === 'cnv' ? '' : ` --lambda-functions ${name}`}`]
      : []),
    ...(preset === 'plimsoll' ? ['--functions 8'] : []),
  ].join(' ')
  return [
    '#!/bin/sh',
    'mkdir -p /etc/plimsoll',
    `printf '%s\\n' 'AWS_REGION=${stack.region}' 'PLIMSOLL_OPTIONS=${options}' > /etc/plimsoll/environment`,
    'systemctl enable --now plimsoll',
    '',
  ].join('\n')
}

function profileOf(stack: Stack, id: string, role: iam.Role): iam.CfnInstanceProfile {
  return new iam.CfnInstanceProfile(stack, id, { roles: [role.roleName] })
}
