/** Bytes on the public port: requests to workloads. */

import { servingOf } from '../../../src/live/serving.ts'
import { fixtures } from '../../support/live.ts'
import { answersOf, httpTarget, httpWorld } from '../http-world.ts'
import { holds, type Target } from '../target.ts'

const well = Buffer.from('GET /strict?n=21 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
/** Inputs between two valid requests. */
const wellEvery = 50

export const httpFront: Target = {
  name: 'http-front',
  about: 'requests to workloads, over a socket',
  ...httpTarget,
  async open() {
    const world = await httpWorld(await servingOf({ files: [fixtures], meter: 'off' }))
    let count = 0
    return {
      async run(input) {
        const happened = answersOf(await world.exchange(input))
        if (++count % wellEvery === 0)
          holds(
            /^HTTP\/1\.1 200 [\s\S]*ok$/.test(await world.exchange(well)),
            'a valid request fails afterwards',
          )
        return happened
      },
      close: world.close,
    }
  },
}
