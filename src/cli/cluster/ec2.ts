/** Options of a cluster whose workers run on EC2 instances. */

import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { mostUserData, requiredPlaceholders } from '../../aws/ec2/user-data.ts'
import { awsOptions } from '../../config/aws-options.ts'
import type { clusterOptions } from '../../config/cluster-options.ts'
import { defaultOf, flagOf, type OptionValues } from '../../config/option.ts'
import { ConfigError } from '../../lib/errors.ts'
import { isLoopback } from '../../lib/loopback.ts'
import type { ClusterOptions, Ec2Options } from '../../live/cluster-options.ts'
import { addressFrom, listFrom } from './addresses.ts'
import { workloadFiles } from './workload-files.ts'

type Values = Pick<OptionValues<typeof clusterOptions>, keyof typeof awsOptions | 'joinAddress' | 'workloads'>

/** `config`: the configuration of an existing server. */
export function ec2From(values: Values, config?: string): Pick<ClusterOptions, 'ec2'> {
  if (values.fleet !== 'ec2') {
    rejectUnused(values)
    return {}
  }
  const { cluster, awsRegion: region, ec2Profile: profile, ec2UserData: file } = values
  if (cluster === undefined)
    throw new ConfigError('--cluster: required with --fleet ec2: a name, the tag of its instances')
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(cluster))
    throw new ConfigError(
      `--cluster = ${cluster}: must be 1 to 64 letters, digits, ".", "_" and "-", beginning with a letter or digit`,
    )
  return {
    ec2: {
      cluster,
      ...(region !== undefined && { region }),
      ...machineFrom(values),
      subnets: idsFrom('ec2Subnets', values.ec2Subnets, 'subnet-'),
      securityGroups: idsFrom('ec2SecurityGroups', values.ec2SecurityGroups, 'sg-'),
      ...(profile !== undefined && { profile }),
      spot: values.ec2Spot,
      detailedMonitoring: values.cpu === 'cloudwatch',
      ...(file !== undefined && { script: scriptFrom(file) }),
      join: joinFrom(values),
      code: codeFrom(values.workloads, config),
      cpu: values.cpu === 'cloudwatch',
    },
  }
}

function rejectUnused(values: Values): void {
  for (const [key, spec] of Object.entries(awsOptions)) {
    const value = values[key as keyof typeof awsOptions]
    if (key !== 'fleet' && value !== defaultOf(spec))
      throw new ConfigError(`${flagOf(key)}${value === true ? '' : ` = ${value}`}: requires --fleet ec2`)
  }
}

/** What an instance is made from. */
function machineFrom({
  ec2Template,
  ec2Image: image,
  ec2Types,
}: Values): Pick<Ec2Options, 'template' | 'image' | 'types'> {
  const types = listFrom(ec2Types)
  if (image !== undefined && !/^ami-[0-9a-z]+$/.test(image))
    throw new ConfigError(`--ec2-image = ${image}: must be the ID of an image, such as ami-0123456789abcdef0`)
  if (ec2Template === undefined) {
    if (image === undefined)
      throw new ConfigError('--ec2-image: required unless --ec2-template names a launch template')
    if (types.length === 0)
      throw new ConfigError('--ec2-types: required unless --ec2-template names a launch template')
    return { image, types }
  }
  const [, name, version] = /^([^:]+)(?::([^:]+))?$/.exec(ec2Template) ?? []
  if (name === undefined)
    throw new ConfigError(
      `--ec2-template = ${ec2Template}: must be the ID or name of a launch template, or NAME:VERSION`,
    )
  const template = { name, ...(version !== undefined && { version }) }
  return { template, ...(image !== undefined && { image }), types }
}

function idsFrom(key: keyof typeof awsOptions, text: string, prefix: string): string[] {
  const ids = listFrom(text)
  const bad = ids.find((id) => !id.startsWith(prefix))
  if (bad === undefined) return ids
  throw new ConfigError(`${flagOf(key)} = ${text}: ${bad}: must begin with ${prefix}`)
}

function scriptFrom(file: string): string {
  const script = read(file)
  const missing = requiredPlaceholders.find((placeholder) => !script.includes(placeholder))
  if (missing !== undefined)
    throw new ConfigError(
      `--ec2-user-data = ${file}: must contain ${missing}, which is replaced at each launch`,
    )
  if (!script.startsWith('#!'))
    throw new ConfigError(
      `--ec2-user-data = ${file}: must begin with #! and an interpreter, such as #!/bin/sh`,
    )
  if (Buffer.byteLength(script) > mostUserData)
    throw new ConfigError(`--ec2-user-data = ${file}: must have at most ${mostUserData} bytes`)
  return script
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`--ec2-user-data = ${file}: ${(error as Error).message}`)
  }
}

function joinFrom({ joinAddress, ec2Join }: Values): string {
  if (joinAddress === undefined)
    throw new ConfigError(
      '--join-address: required with --fleet ec2: where instances join, such as 0.0.0.0:8082',
    )
  const { host, port } = addressFrom('--join-address', joinAddress)
  if (ec2Join !== undefined) {
    addressFrom('--ec2-join', ec2Join)
    return ec2Join
  }
  if (port === 0) throw new ConfigError(`--join-address = ${joinAddress}: must have a port with --fleet ec2`)
  if (isLoopback(host))
    throw new ConfigError(
      `--join-address = ${joinAddress}: instances cannot reach it; listen on 0.0.0.0:${port}, or give --ec2-join`,
    )
  return host === '0.0.0.0' || host === '::' ? `${ownAddress()}:${port}` : joinAddress
}

/** The first address of this machine in its network. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
  const own = all.find(({ internal, family }) => !internal && family === 'IPv4')
  if (own) return own.address
  throw new ConfigError('--ec2-join: required, because this machine has no address in a network')
}

/** An instance has the same files at the same paths as this machine. */
function codeFrom(workloads: string | undefined, config: string | undefined): string[] {
  if (config !== undefined) return ['--config', resolve(config)]
  return workloads === undefined ? [] : ['--workloads', workloadFiles(workloads).join(',')]
}
