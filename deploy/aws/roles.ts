/** What machines and functions may do. Each action is listed; resources are as narrow as each action allows. */

import type { Stack } from 'aws-cdk-lib'
import type dynamodb from 'aws-cdk-lib/aws-dynamodb'
import type ec2 from 'aws-cdk-lib/aws-ec2'
import iam from 'aws-cdk-lib/aws-iam'
import type lambda from 'aws-cdk-lib/aws-lambda'
import { acceptWildcards } from './accepted.ts'
import type { Network } from './network.ts'
import type { Settings } from './settings.ts'
import type { Tables } from './tables.ts'

/** The tag of the instances that the balancer launches. */
export const clusterTag = 'plimsoll:cluster'

const rowActions = [
  ...['dynamodb:BatchGetItem', 'dynamodb:BatchWriteItem', 'dynamodb:DeleteItem', 'dynamodb:DescribeTable'],
  ...['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', 'dynamodb:Scan', 'dynamodb:UpdateItem'],
]
const jobActions = [...rowActions, 'dynamodb:ConditionCheckItem']

const sessionReason = 'Actions of Session Manager have no resources.'

/** A shell by Session Manager in place of an open SSH port. These actions have no resources. */
const sessionActions = [
  ...['ssm:UpdateInstanceInformation', 'ssmmessages:CreateControlChannel', 'ssmmessages:CreateDataChannel'],
  ...['ssmmessages:OpenControlChannel', 'ssmmessages:OpenDataChannel'],
]

/** Workers report to the balancer, which writes the tables. */
export function workerRole(stack: Stack): iam.Role {
  const role = machineRole(stack, 'WorkerRole')
  acceptWildcards(role, sessionReason, ['*'])
  return role
}

export function functionRole(stack: Stack, id: string, logGroupArn: string): iam.Role {
  const role = new iam.Role(stack, id, { assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com') })
  allow(role, ['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroupArn])
  return role
}

export interface BalancerParts {
  settings: Settings
  tables: Tables
  network: Network
  template: ec2.CfnLaunchTemplate
  workerRole: iam.Role
  functions: lambda.CfnFunction[]
}

export function balancerRole(stack: Stack, parts: BalancerParts): iam.Role {
  const role = machineRole(stack, 'BalancerRole')
  allowFleet(stack, role, parts)
  const { tables, functions } = parts
  allowRows(role, tables.documents)
  allow(role, jobActions, [tables.jobs.attrArn, `${tables.jobs.attrArn}/index/*`])
  if (functions.length > 0)
    allow(
      role,
      ['lambda:InvokeFunction'],
      functions.map(({ attrArn }) => attrArn),
    )
  const ofAccount = 'arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:'
  acceptWildcards(
    role,
    'Describing and metrics have no resources; what is launched has no name yet, and conditions on tags and the template bound it.',
    [
      '*',
      ...['instance/*', 'volume/*', 'network-interface/*'].map((what) => `${ofAccount}${what}`),
      'arn:<AWS::Partition>:ec2:<AWS::Region>::image/*',
      '<TableJobs.Arn>/index/*',
    ],
  )
  return role
}

/** It launches instances of its template only, with its tag, and terminates only those. */
function allowFleet(
  stack: Stack,
  role: iam.Role,
  { settings, network, template, workerRole: worker }: BalancerParts,
): void {
  const arn = (what: string, account = stack.account) =>
    `arn:${stack.partition}:ec2:${stack.region}:${account}:${what}`
  const tagged = { [`aws:RequestTag/${clusterTag}`]: settings.name }
  allow(role, ['ec2:RunInstances'], [arn('instance/*'), arn('volume/*')], { StringEquals: tagged })
  allow(
    role,
    ['ec2:RunInstances'],
    [
      arn('network-interface/*'),
      arn('image/*', ''),
      arn(`launch-template/${template.ref}`),
      arn(`security-group/${network.workerGroup.attrGroupId}`),
      ...network.subnets.map(({ ref }) => arn(`subnet/${ref}`)),
    ],
  )
  allow(role, ['ec2:CreateTags'], [arn('instance/*'), arn('volume/*')], {
    StringEquals: { 'ec2:CreateAction': 'RunInstances' },
  })
  allow(role, ['ec2:TerminateInstances'], [arn('instance/*')], {
    StringEquals: { [`aws:ResourceTag/${clusterTag}`]: settings.name },
  })
  // These have no resources.
  allow(role, ['cloudwatch:GetMetricData', 'ec2:DescribeInstances'], ['*'])
  allow(role, ['iam:PassRole'], [worker.roleArn], {
    StringEquals: { 'iam:PassedToService': 'ec2.amazonaws.com' },
  })
}

function machineRole(stack: Stack, id: string): iam.Role {
  const role = new iam.Role(stack, id, { assumedBy: new iam.ServicePrincipal('ec2.amazonaws.com') })
  allow(role, sessionActions, ['*'])
  return role
}

function allowRows(role: iam.Role, tables: readonly dynamodb.CfnTable[]): void {
  if (tables.length > 0)
    allow(
      role,
      rowActions,
      tables.map(({ attrArn }) => attrArn),
    )
}

function allow(
  role: iam.Role,
  actions: string[],
  resources: string[],
  conditions?: Record<string, unknown>,
): void {
  role.addToPolicy(new iam.PolicyStatement({ actions, resources, ...(conditions && { conditions }) }))
}
