/** Lambda functions for jobs that overflow: those of cnv's document, or one for all workloads. */

import type { Stack } from 'aws-cdk-lib'
import lambda from 'aws-cdk-lib/aws-lambda'
import logs from 'aws-cdk-lib/aws-logs'
import { functionRole } from './roles.ts'
import type { Settings } from './settings.ts'

/** By workload, as in the preset. */
const cnvFunctions = { julia: 'cnv-fractals', dna: 'cnv-dna', grayscott: 'cnv-grayscott' }

/** The balancer allows fewer at a time than this; above it Lambda throttles. */
const reserved = 8

/** `aws cloudformation package` puts this folder into a bucket, and its place there into the template. */
const codeFolder = 'build/functions'

/** Cloudprime and hillclimbing send nothing to functions. */
export function functions(stack: Stack, { name, preset }: Settings): lambda.CfnFunction[] {
  if (preset === 'cloudprime' || preset === 'hillclimbing') return []
  const names: readonly (readonly [workload: string | undefined, name: string])[] =
    preset === 'cnv' ? Object.entries(cnvFunctions) : [[undefined, name]]
  return names.map(([workload, functionName]) => {
    const id = functionName.replace(/[^A-Za-z0-9]/g, '')
    const logGroup = new logs.CfnLogGroup(stack, `LogGroup${id}`, {
      logGroupName: `/aws/lambda/${functionName}`,
      retentionInDays: 7,
    })
    const made = new lambda.CfnFunction(stack, `Function${id}`, {
      functionName,
      description: `Runs ${workload ?? 'workloads'} for the Plimsoll cluster ${name}`,
      runtime: 'nodejs24.x',
      handler: 'index.handler',
      code: {},
      memorySize: 512,
      timeout: 900,
      reservedConcurrentExecutions: reserved,
      role: functionRole(stack, `Role${id}`, logGroup.attrArn).roleArn,
      loggingConfig: { logGroup: logGroup.ref },
      environment: {
        variables: { PLIMSOLL_PRESET: preset, ...(workload !== undefined && { PLIMSOLL_ONLY: workload }) },
      },
    })
    made.addPropertyOverride('Code', codeFolder)
    return made
  })
}
