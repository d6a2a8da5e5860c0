/** Findings of cdk-nag that are accepted, each with its reason. Any other finding fails the check of the templates. */

import type { CfnResource } from 'aws-cdk-lib'
import type iam from 'aws-cdk-lib/aws-iam'

export interface Accepted {
  id: string
  reason: string
  /** Only these; without them the whole rule. */
  appliesTo?: string[]
}

export function accept(resource: CfnResource, ...findings: Accepted[]): void {
  resource.addMetadata('cdk_nag', {
    rules_to_suppress: findings.map(({ id, reason, appliesTo }) => ({
      id,
      reason,
      ...(appliesTo && { applies_to: appliesTo }),
    })),
  })
}

/** Wildcards in the resources of a role's own policy. */
export function acceptWildcards(role: iam.Role, reason: string, resources: string[]): void {
  const policy = role.node.findChild('DefaultPolicy').node.defaultChild as CfnResource
  accept(policy, {
    id: 'AwsSolutions-IAM5',
    reason,
    appliesTo: resources.map((resource) => `Resource::${resource}`),
  })
}
