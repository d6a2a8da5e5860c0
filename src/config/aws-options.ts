/** Options of a cluster whose workers run on AWS. */

import { under } from './option.ts'

export const awsOptions = under('AWS', {
  fleet: {
    type: 'text',
    help: 'where workers run: local, on this machine, or ec2, one on each EC2 instance (requires npm i @aws-sdk/client-ec2)',
    default: 'local',
    choices: ['local', 'ec2'],
  },
  cluster: {
    type: 'text',
    help: 'name of the cluster, the tag of its instances; no other cluster of the account and region may have it',
    value: 'NAME',
  },
  awsRegion: {
    type: 'text',
    help: 'region; default: that of AWS_REGION or of the AWS profile',
    value: 'REGION',
  },
  ec2Template: {
    type: 'text',
    help: 'launch template of the instances, by ID or name; :VERSION may follow; other --ec2 options override it',
    value: 'NAME',
  },
  ec2Image: {
    type: 'text',
    help: 'machine image of the instances; required without --ec2-template',
    value: 'AMI',
  },
  ec2Types: {
    type: 'text',
    help: 'instance types, separated by commas; without capacity for one, the next is launched; required without --ec2-template',
    default: '',
    value: 'TYPES',
  },
  ec2Subnets: {
    type: 'text',
    help: 'subnets, separated by commas; without capacity in the zone of one, the next is tried',
    default: '',
    value: 'IDS',
  },
  ec2SecurityGroups: {
    type: 'text',
    help: 'security groups of the instances, by ID, separated by commas',
    default: '',
    value: 'IDS',
  },
  ec2Profile: { type: 'text', help: 'instance profile, by name or ARN', value: 'NAME' },
  ec2Spot: {
    type: 'flag',
    help: 'launch spot instances; a worker whose instance is to be interrupted drains',
  },
  ec2UserData: {
    type: 'text',
    help: 'script that instances run at their start, with {worker} and {token} in it; default: one that runs plimsoll worker',
    value: 'FILE',
    path: 'one',
  },
  ec2Join: {
    type: 'text',
    help: 'where instances reach the --join-address of this cluster; default: the address of this machine',
    value: 'HOST:PORT',
  },
  cpu: {
    type: 'text',
    help: 'where CPU figures of workers come from: workers, their own reports, or cloudwatch (requires --fleet ec2 and npm i @aws-sdk/client-cloudwatch)',
    default: 'workers',
    choices: ['workers', 'cloudwatch'],
  },
})
