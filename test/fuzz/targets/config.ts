/** Configuration files, and the small languages inside: commands, path patterns, features, formulas, promises. */

import { checkConfig } from '../../../src/config/check.ts'
import { clusterOptions } from '../../../src/config/cluster-options.ts'
import { featureSource } from '../../../src/config/feature-source.ts'
import { checkOption, parseOption } from '../../../src/config/option.ts'
import { compilePattern, partsOf } from '../../../src/config/path-pattern.ts'
import { splitWords } from '../../../src/config/words.ts'
import { readYaml } from '../../../src/config/yaml.ts'
import { clientNamer } from '../../../src/front/request/client-name.ts'
import { ConfigError } from '../../../src/lib/errors.ts'
import type { Random } from '../../../src/lib/random.ts'
import { chance, jsonText, listOf, oddNumbers, pick, textOf } from '../draw.ts'
import { errorsOf, holds, type Target } from '../target.ts'

const optionKeys = Object.keys(clusterOptions) as (keyof typeof clusterOptions)[]
const serverKeys = ['workers', 'upstreams', 'health', 'concurrency', 'routes', 'maxBodyBytes', 'nonsense']

const route = (random: Random) =>
  JSON.stringify({
    name: pick(random, ['a', 'render', 'A', '', textOf(random)]),
    path: pick(random, ['/', '/a/:b', '/**', '/:a/:a', 'a', '/-/x', `/${textOf(random)}`]),
    ...(chance(random, 0.5) && {
      methods: listOf(random, 3, () => pick(random, ['GET', 'get', 'POST', '', 'A B'])),
    }),
    ...(chance(random, 0.5) && {
      features: {
        x: pick(random, ['query.a', 'path.b', 'json.a.b', 'body.bytes', 'method', 'header.', textOf(random)]),
      },
    }),
    ...(chance(random, 0.3) && { deadlineMs: pick(random, [1, 0, -1, Number.MAX_VALUE, '5']) }),
  })

const server = (random: Random) =>
  JSON.stringify({
    command: pick(random, [
      'node a.js {port}',
      'a',
      ['a', '{socket}'],
      [''],
      `a ${textOf(random)} {port}`,
      5,
    ]),
    ...(chance(random, 0.3) && { cwd: pick(random, ['.', '/', 'no/such', textOf(random), 5]) }),
    ...(chance(random, 0.3) && { env: pick(random, [{}, { A: 'b' }, { 'a=': '' }, { a: 1 }, []]) }),
    ...(chance(random, 0.3) && { files: pick(random, [[], ['a'], ['\0'], 5]) }),
    ...(chance(random, 0.3) && { health: pick(random, ['/health', 'health', '/ ', 5]) }),
    ...(chance(random, 0.3) && { concurrency: pick(random, [1, 0, 1.5, 1e9, '1']) }),
  })

function valueFor(random: Random, key: string): string {
  if (key === 'workers' && chance(random, 0.9)) return server(random)
  if (key === 'routes' && chance(random, 0.9)) return `[${listOf(random, 4, () => route(random)).join(',')}]`
  if (key === 'upstreams' && chance(random, 0.9))
    return JSON.stringify(
      listOf(random, 3, () =>
        pick(random, ['http://a:1', 'http://a/b', 'https://a', 'x', '', 'http://[::1]:9']),
      ),
    )
  if (chance(random, 0.4)) return pick(random, oddNumbers) || '""'
  return jsonText(random, 2)
}

export const config: Target = {
  name: 'config',
  about: 'configuration files in JSON and YAML',
  weight: 2,
  maxBytes: 8192,
  cpuMs: 2_000,
  words: [
    ...[...serverKeys, ...optionKeys].map((key) => `${key}: `),
    ...[
      '\n',
      '- ',
      '&a ',
      '*a',
      '<<: ',
      '!!binary ',
      '|\n',
      '{',
      '}',
      '[',
      ']',
      '"',
      '{port}',
      '\0',
      '!!js/function ',
    ],
  ],
  generate: (random) =>
    Buffer.from(
      `{${listOf(random, 8, () => pick(random, [...serverKeys, ...optionKeys]))
        .map((key) => `${JSON.stringify(key)}:${valueFor(random, key)}`)
        .join(',')}}`,
    ),
  declared: errorsOf(ConfigError),
  open: () => ({
    run(input) {
      const given = parsed(input.toString('utf8'))
      if (given instanceof Error) return given.name
      const { options, own } = checkConfig(given, '/')
      // Values of options are checked with the flags.
      for (const [key, value] of Object.entries(options))
        checkOption(key, value, clusterOptions[key as keyof typeof clusterOptions])
      return own ? `${own.workers ? 'workers' : 'upstreams'} ${Math.min(3, own.routes.length)}` : 'options'
    },
  }),
}

/** The library's errors name the line; `loadConfig` adds the file. */
function parsed(text: string): unknown {
  try {
    return readYaml(text)
  } catch (error) {
    return error
  }
}

const samples = [
  ...[
    'python3 app.py --port {port}',
    `a 'b c' "d\\" e" f\\ g`,
    '/render/:scene',
    '/files/**',
    'json.options.depth',
  ],
  ...['query.width', 'header:x-tenant', '90s', '1e3', 'work=1,calls=2'],
]

export const optionText: Target = {
  name: 'option-text',
  about: 'commands, path patterns, features and flags',
  weight: 2,
  maxBytes: 2048,
  cpuMs: 1_000,
  words: [
    "'",
    '"',
    '\\',
    ' ',
    '\t',
    '\n',
    '/',
    ':',
    '**',
    '*',
    '?',
    '%2f',
    '.',
    '$',
    '|',
    '{port}',
    ...samples,
  ],
  generate: (random) => Buffer.from(`${pick(random, samples)}${textOf(random)}`),
  declared: errorsOf(ConfigError),
  open() {
    let next = 0
    return {
      run(input) {
        const text = input.toString('utf8')
        const kind = next++ % 5
        if (kind === 0) return `words ${Math.min(4, splitWords('command', text).length)}`
        if (kind === 1)
          return `pattern ${compilePattern('path', text).match(partsOf(text)) ? 'matches' : 'differs'}`
        if (kind === 2) return `feature ${typeof featureSource('features.x', text, ['scene'])}`
        if (kind === 3) return `client ${clientNamer(text).length}`
        const key = optionKeys[input.length % optionKeys.length]!
        const spec = clusterOptions[key]
        if (spec.type === 'flag') return 'flag'
        const value = parseOption(key, text, spec)
        holds(typeof value !== 'number' || Number.isFinite(value), `${key} = ${value}`)
        return `option ${typeof value}`
      },
    }
  },
}
