/**
 * Writes the CloudFormation templates of a cluster, `image.template.json` and `cluster.template.json`, and prints its name,
 * region and package. node app.ts [cluster.json [FOLDER]]
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import cdk from 'aws-cdk-lib'
import { cluster } from './cluster.ts'
import { imagePipeline } from './image.ts'
import { readSettings, type Settings } from './settings.ts'

export interface Stacks {
  app: cdk.App
  image: cdk.Stack
  cluster: cdk.Stack
}

/** `folder`: for files of the CDK. */
export function stacks(settings: Settings, folder: string): Stacks {
  const app = new cdk.App({
    analyticsReporting: false,
    outdir: join(folder, 'cdk.out'),
    // A template that is not in a bucket may have 51,200 bytes.
    context: { 'aws:cdk:enable-path-metadata': false },
  })
  const options = { synthesizer: new cdk.LegacyStackSynthesizer() }
  const image = new cdk.Stack(app, `${settings.name}-image`, options)
  imagePipeline(image, settings)
  const machines = new cdk.Stack(app, settings.name, options)
  cluster(machines, settings)
  return { app, image, cluster: machines }
}

if (import.meta.main) {
  const [file = 'cluster.json', folder = '.'] = process.argv.slice(2)
  const settings = readSettings(file)
  const { app, image, cluster: machines } = stacks(settings, folder)
  const assembly = app.synth()
  for (const [stack, name] of [
    [image, 'image'],
    [machines, 'cluster'],
  ] as const) {
    const { template } = assembly.getStackArtifact(stack.artifactId)
    writeFileSync(join(folder, `${name}.template.json`), `${JSON.stringify(template, null, 2)}\n`)
  }
  console.log(settings.name, settings.region, settings.package)
}
