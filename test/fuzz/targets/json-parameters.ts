/** JSON parameters of workloads: the input is the body of a valid request. */

import { bundledWorkloads, workloadFiles } from '../../../src/cli/cluster/workload-files.ts'
import { servingOf } from '../../../src/live/serving.ts'
import { chance, jsonText, listOf, oddNumbers, pick } from '../draw.ts'
import { answersOf, httpWorld } from '../http-world.ts'
import { errorsOf, holds, type Target } from '../target.ts'

/** An answer to bad parameters may not be long, whatever the client sent. */
const longestAnswer = 64 * 1024

const fields = [
  ...[
    'n',
    'width',
    'height',
    'iterations',
    'seed',
    'format',
    'quality',
    'maxSide',
    'algorithm',
    'strategy',
    'size',
  ],
  ...['__proto__', 'constructor', 'toJSON', '', 'é'],
]

export const jsonParameters: Target = {
  name: 'json-parameters',
  about: 'JSON bodies, checked by the schemas of the bundled workloads',
  maxBytes: 16 * 1024,
  cpuMs: 2_000,
  words: [
    '{',
    '}',
    '[',
    ']',
    ':',
    ',',
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    'null',
    '1e999',
    '-',
    '"__proto__":',
    '[[[[',
    '{"a":',
  ],
  generate(random) {
    if (chance(random, 0.1)) return Buffer.from(pick(random, ['[', '{"a":']).repeat(random.below(2_000)))
    const pairs = listOf(random, chance(random, 0.05) ? 500 : 6, () => {
      const value = chance(random, 0.5) ? pick(random, oddNumbers) : jsonText(random)
      return `${JSON.stringify(pick(random, fields))}:${value === '' ? '""' : value}`
    })
    return Buffer.from(`{${pairs.join(',')}}`)
  },
  declared: errorsOf(),
  async open() {
    const serving = await servingOf({ files: workloadFiles(bundledWorkloads), meter: 'off' })
    const world = await httpWorld(serving)
    const names = [...serving.workloads.keys()]
    let next = 0
    return {
      async run(input) {
        const name = names[next++ % names.length]!
        const head = `POST /${name} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${input.length}\r\n\r\n`
        const text = await world.exchange(Buffer.concat([Buffer.from(head), input]), true)
        holds(text.length < longestAnswer, `an answer of ${text.length} bytes`)
        const happened = answersOf(text)
        holds(happened !== 'no answer', 'no answer')
        return `${name} ${happened}`
      },
      close: world.close,
    }
  },
}
