/** All fuzz targets. */

import type { Target } from './target.ts'
import { config, optionText } from './targets/config.ts'
import { headers } from './targets/headers.ts'
import { httpFront } from './targets/http-front.ts'
import { httpRoutes } from './targets/http-routes.ts'
import { jsonParameters } from './targets/json-parameters.ts'
import { bmpTarget, genomes, heightMap, jpegTarget, pngTarget } from './targets/pictures.ts'
import { plantedTargets } from './targets/planted.ts'
import { accessLog, eventLog, trace } from './targets/recordings.ts'
import { adminPort, attempts } from './targets/servers.ts'
import { url } from './targets/url.ts'
import { answerHead, slotFrames, wireLines } from './targets/wire.ts'

export const targets: readonly Target[] = [
  ...[httpFront, httpRoutes, jsonParameters, url, headers],
  ...[wireLines, slotFrames, answerHead, attempts, adminPort],
  ...[pngTarget, jpegTarget, bmpTarget, heightMap, genomes],
  ...[config, optionText, trace, eventLog, accessLog],
]

export function targetNamed(name: string): Target {
  const found = [...targets, ...plantedTargets].find((target) => target.name === name)
  if (found) return found
  throw new Error(`${name}: must be one of all, ${targets.map((target) => target.name).join(', ')}`)
}
