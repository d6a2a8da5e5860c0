/** A network of its own, in which only the public port is open. */

import type { Stack } from 'aws-cdk-lib'
import ec2 from 'aws-cdk-lib/aws-ec2'
import iam from 'aws-cdk-lib/aws-iam'
import logs from 'aws-cdk-lib/aws-logs'
import { accept } from './accepted.ts'
import type { Settings } from './settings.ts'

/** Where workers join. */
export const joinPort = 7946

export interface Network {
  subnets: ec2.CfnSubnet[]
  balancerGroup: ec2.CfnSecurityGroup
  workerGroup: ec2.CfnSecurityGroup
}

/** Instances have public addresses in place of a NAT gateway, which costs more than they do; their groups let nothing in. */
export function network(stack: Stack, { name, zones, publicPort, publicFrom }: Settings): Network {
  const vpc = new ec2.CfnVPC(stack, 'Vpc', {
    cidrBlock: '10.40.0.0/16',
    enableDnsHostnames: true,
    enableDnsSupport: true,
    tags: [{ key: 'Name', value: name }],
  })
  const gateway = new ec2.CfnInternetGateway(stack, 'Gateway')
  const attached = new ec2.CfnVPCGatewayAttachment(stack, 'GatewayAttachment', {
    vpcId: vpc.ref,
    internetGatewayId: gateway.ref,
  })
  const routes = new ec2.CfnRouteTable(stack, 'Routes', { vpcId: vpc.ref })
  const outward = new ec2.CfnRoute(stack, 'RouteOutward', {
    routeTableId: routes.ref,
    destinationCidrBlock: '0.0.0.0/0',
    gatewayId: gateway.ref,
  })
  outward.addResourceDependency(attached)
  const subnets = zones.map((availabilityZone, i) => {
    const cidrBlock = `10.40.${i}.0/24`
    const subnet = new ec2.CfnSubnet(stack, `Subnet${i}`, { vpcId: vpc.ref, cidrBlock, availabilityZone })
    new ec2.CfnSubnetRouteTableAssociation(stack, `SubnetRoutes${i}`, {
      subnetId: subnet.ref,
      routeTableId: routes.ref,
    })
    return subnet
  })
  flowLogs(stack, vpc)
  return { subnets, ...groups(stack, vpc, { publicPort, publicFrom }) }
}

function groups(
  stack: Stack,
  vpc: ec2.CfnVPC,
  { publicPort, publicFrom }: Pick<Settings, 'publicPort' | 'publicFrom'>,
): Pick<Network, 'balancerGroup' | 'workerGroup'> {
  const balancerGroup = new ec2.CfnSecurityGroup(stack, 'BalancerGroup', {
    vpcId: vpc.ref,
    groupDescription: 'The balancer: the public port, and workers that join',
    securityGroupIngress: [
      {
        description: 'The public port',
        ipProtocol: 'tcp',
        fromPort: publicPort,
        toPort: publicPort,
        cidrIp: publicFrom,
      },
    ],
    securityGroupEgress: outgoing,
  })
  accept(balancerGroup, { id: 'AwsSolutions-EC23', reason: 'This is the public port of the balancer.' })
  const workerGroup = new ec2.CfnSecurityGroup(stack, 'WorkerGroup', {
    vpcId: vpc.ref,
    groupDescription: 'Workers: attempts of the balancer',
    securityGroupEgress: outgoing,
  })
  new ec2.CfnSecurityGroupIngress(stack, 'WorkersJoin', {
    groupId: balancerGroup.attrGroupId,
    description: 'Workers join over TLS',
    ipProtocol: 'tcp',
    fromPort: joinPort,
    toPort: joinPort,
    sourceSecurityGroupId: workerGroup.attrGroupId,
  })
  new ec2.CfnSecurityGroupIngress(stack, 'BalancerSends', {
    groupId: workerGroup.attrGroupId,
    description: 'The balancer sends attempts over TLS, to the port that the worker has chosen',
    ipProtocol: 'tcp',
    fromPort: 1024,
    toPort: 65_535,
    sourceSecurityGroupId: balancerGroup.attrGroupId,
  })
  return { balancerGroup, workerGroup }
}

const outgoing = [
  { description: 'AWS and the other machines of the cluster', ipProtocol: '-1', cidrIp: '0.0.0.0/0' },
]

function flowLogs(stack: Stack, vpc: ec2.CfnVPC): void {
  const group = new logs.CfnLogGroup(stack, 'FlowLogGroup', { retentionInDays: 7 })
  const role = new iam.Role(stack, 'FlowLogRole', {
    assumedBy: new iam.ServicePrincipal('vpc-flow-logs.amazonaws.com'),
  })
  role.addToPolicy(
    new iam.PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents', 'logs:DescribeLogStreams'],
      resources: [group.attrArn],
    }),
  )
  new ec2.CfnFlowLog(stack, 'FlowLog', {
    resourceId: vpc.ref,
    resourceType: 'VPC',
    trafficType: 'REJECT',
    logGroupName: group.ref,
    deliverLogsPermissionArn: role.roleArn,
  })
}
