/** The stack of a cluster: network, tables, roles, functions, the balancer, and the template of its workers. */

import cdk from 'aws-cdk-lib'
import { functions } from './functions.ts'
import { balancer, workerTemplate } from './machines.ts'
import { network } from './network.ts'
import { balancerRole, workerRole } from './roles.ts'
import type { Settings } from './settings.ts'
import { tables } from './tables.ts'

export function cluster(stack: cdk.Stack, settings: Settings): void {
  const image = new cdk.CfnParameter(stack, 'Image', {
    type: 'AWS::EC2::Image::Id',
    description: 'The machine image of balancer and workers',
  }).valueAsString
  const stored = tables(stack, settings)
  const net = network(stack, settings)
  const run = functions(stack, settings)
  const worker = workerRole(stack)
  const template = workerTemplate(stack, settings, { image, role: worker, network: net })
  const role = balancerRole(stack, {
    ...{ settings, tables: stored, network: net, template, workerRole: worker, functions: run },
  })
  const instance = balancer(stack, settings, {
    ...{ image, role, network: net, template, hasFunctions: run.length > 0 },
  })
  new cdk.CfnOutput(stack, 'Url', {
    value: `http://${instance.attrPublicIp}:${settings.publicPort}`,
  })
}
