/** The part of EC2 Image Builder that `deploy/aws/setup.sh` and `teardown.sh` use: a build is done at the second look. */

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Build {
  arn: string
  pipeline: string
  looks: number
}

export interface ImageBuilderStand {
  url: string
  readonly builds: readonly Build[]
  close(): Promise<void>
}

/** `image`: the machine image that each build results in. */
export async function startImageBuilder(image: string): Promise<ImageBuilderStand> {
  const builds: Build[] = []
  const view = ({ arn, looks }: Build) => ({
    arn,
    dateCreated: '2026-01-01T00:00:00Z',
    state: { status: looks > 1 ? 'AVAILABLE' : 'BUILDING' },
    ...(looks > 1 && { outputResources: { amis: [{ image, region: 'eu-central-1' }] } }),
  })

  async function answer(request: IncomingMessage): Promise<object | undefined> {
    const url = new URL(request.url ?? '', 'http://image-builder')
    const asked = (await bodyOf(request)) as { imagePipelineArn?: string }
    const arn = url.searchParams.get('imageBuildVersionArn')
    switch (url.pathname) {
      case '/StartImagePipelineExecution': {
        const pipeline = asked.imagePipelineArn ?? ''
        builds.push({ arn: `${pipeline}/${builds.length + 1}`, pipeline, looks: 0 })
        return { imageBuildVersionArn: builds.at(-1)!.arn }
      }
      case '/ListImagePipelineImages':
        return {
          imageSummaryList: builds.filter(({ pipeline }) => pipeline === asked.imagePipelineArn).map(view),
        }
      case '/GetImage': {
        const build = builds.find((each) => each.arn === arn)
        if (!build) return undefined
        build.looks++
        return { image: view(build) }
      }
      case '/DeleteImage': {
        const at = builds.findIndex((each) => each.arn === arn)
        if (at >= 0) builds.splice(at, 1)
        return { imageBuildVersionArn: arn }
      }
      default:
        return undefined
    }
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (body) => {
        response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body ?? { message: 'not found' }))
      },
      () => response.destroy(),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    builds,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
}
