/** A stand for one part: moto, the proxy before it, and the options of a cluster whose instances run there. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DescribeImagesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { credentials, Ec2Stand, region, type StandOptions } from '../../stands/aws/ec2-stand.ts'
import { startMoto } from '../../stands/aws/moto.ts'
import { cli } from '../../support/live.ts'
import { freePort } from '../../support/postgres.ts'
import type { Figures } from './part.ts'

export const naps = join(import.meta.dirname, '..', '..', 'fixtures', 'naps.ts')

export interface OpenStand {
  stand: Ec2Stand
  moto: string
  /** Options of `plimsoll up`. */
  args: readonly string[]
  /** What has become of the instances. */
  count(): Promise<Pick<Figures, 'launched' | 'terminated' | 'left' | 'double_launches'>>
  close(): Promise<void>
}

/** `types`: instance types, in order of preference. */
export async function openStand(types: string, options: Omit<StandOptions, 'moto'>): Promise<OpenStand> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-aws-'))
  const { url: moto, stop } = await startMoto(await freePort())
  const stand = new Ec2Stand({ ...options, moto })
  await stand.open()
  const script = join(folder, 'user-data.sh')
  writeFileSync(script, userDataOf(folder))
  const join_ = `127.0.0.1:${await freePort()}`
  return {
    ...{ stand, moto },
    args: [
      ...['--port', '0', '--admin-port', '0', '--data', join(folder, 'balancer'), '--workloads', naps],
      ...['--fleet', 'ec2', '--cluster', 'check', '--join-address', join_, '--ec2-join', join_],
      ...['--ec2-image', await imageIn(moto), '--ec2-types', types, '--ec2-user-data', script],
    ],
    async count() {
      const all = await stand.list()
      const left = all.filter(({ isAlive }) => isAlive).length
      const launches = new Set(all.map(({ launch }) => launch))
      const double_launches = all.length - launches.size
      return { launched: all.length, terminated: all.length - left, left, double_launches }
    },
    async close() {
      await stand.close()
      await stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** All instances run on this machine, so each has a folder of its own, and one core. */
function userDataOf(folder: string): string {
  return `#!/bin/sh
export PLIMSOLL_WORKER_TOKEN={token}
exec '${process.execPath}' '${cli}' {worker} --cores 1 --memory 1024 --data '${folder}/'"$INSTANCE"
`
}

async function imageIn(moto: string): Promise<string> {
  const client = new EC2Client({ endpoint: moto, region, credentials })
  try {
    const { Images = [] } = await client.send(new DescribeImagesCommand({ Owners: ['amazon'] }))
    return Images[0]!.ImageId!
  } finally {
    client.destroy()
  }
}
