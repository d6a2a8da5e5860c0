/** A pipeline of EC2 Image Builder that makes the machine image of balancer and workers. */

import { readFileSync } from 'node:fs'
import { CfnOutput, type CfnResource, type Stack } from 'aws-cdk-lib'
import iam from 'aws-cdk-lib/aws-iam'
import imagebuilder from 'aws-cdk-lib/aws-imagebuilder'
import { accept } from './accepted.ts'
import type { Settings } from './settings.ts'

/** Raised with every change of the component or the recipe: Image Builder never replaces a version. */
const version = '1.0.0'

export function imagePipeline(stack: Stack, { name, instanceType, package: source }: Settings): void {
  const role = new iam.Role(stack, 'BuilderRole', {
    assumedBy: new iam.ServicePrincipal('ec2.amazonaws.com'),
    managedPolicies: ['EC2InstanceProfileForImageBuilder', 'AmazonSSMManagedInstanceCore'].map((policy) =>
      iam.ManagedPolicy.fromAwsManagedPolicyName(policy),
    ),
  })
  accept(role.node.defaultChild as CfnResource, {
    id: 'AwsSolutions-IAM4',
    reason: 'Image Builder requires these two policies; no running machine has the role.',
  })
  const profile = new iam.CfnInstanceProfile(stack, 'BuilderProfile', { roles: [role.roleName] })
  const component = new imagebuilder.CfnComponent(stack, 'Component', {
    name: `${name}-component`,
    version,
    platform: 'Linux',
    data: componentDocument(source),
  })
  const recipe = new imagebuilder.CfnImageRecipe(stack, 'Recipe', {
    name: `${name}-recipe`,
    version,
    parentImage: `arn:${stack.partition}:imagebuilder:${stack.region}:aws:image/amazon-linux-2023-x86/x.x.x`,
    components: [{ componentArn: component.attrArn }],
    blockDeviceMappings: [
      {
        deviceName: '/dev/xvda',
        ebs: { encrypted: true, volumeSize: 8, volumeType: 'gp3', deleteOnTermination: true },
      },
    ],
  })
  const machines = new imagebuilder.CfnInfrastructureConfiguration(stack, 'BuilderMachines', {
    name: `${name}-builder`,
    instanceProfileName: profile.ref,
    instanceTypes: [instanceType],
    instanceMetadataOptions: { httpTokens: 'required', httpPutResponseHopLimit: 1 },
    terminateInstanceOnFailure: true,
  })
  const pipeline = new imagebuilder.CfnImagePipeline(stack, 'Pipeline', {
    name: `${name}-image`,
    imageRecipeArn: recipe.attrArn,
    infrastructureConfigurationArn: machines.attrArn,
    imageTestsConfiguration: { imageTestsEnabled: false },
  })
  new CfnOutput(stack, 'PipelineArn', { value: pipeline.attrArn })
}

/** Runs the script that Packer runs too. */
function componentDocument(source: string): string {
  const script = readFileSync(new URL('image/install.sh', import.meta.url), 'utf8')
  return JSON.stringify({
    name: 'plimsoll',
    schemaVersion: 1.0,
    phases: [
      {
        name: 'build',
        steps: [
          {
            name: 'install',
            action: 'ExecuteBash',
            inputs: { commands: [`export PLIMSOLL_PACKAGE='${source}'`, script] },
          },
        ],
      },
    ],
  })
}
