/** Libraries for collections, mathematics, pictures, compression and validation. */
import { photo } from '../../../workloads/testing/pictures.ts'
import { filesOf, load } from './inputs.ts'
import { messageOf, type Suite } from './suite.ts'

const lodash: Suite = {
  name: 'lodash',
  packages: ['lodash'],
  small: true,
  async run(out) {
    const { default: _ } = await load('lodash')
    const lock = JSON.parse(filesOf('package-lock.json')[0]!.text)
    const list = Object.entries<Record<string, unknown>>(lock.packages).map(([path, it]) => ({ path, ...it }))
    out('groups', _.chain(list).groupBy('license').mapValues('length').toPairs().sortBy(1, 0).value())
    out('deep', [_.cloneDeep(list), _.merge({}, ...list), _.isEqual(list, _.cloneDeep(list))])
    out('order', _.map(_.orderBy(list, ['license', 'path'], ['desc', 'asc']), 'path'))
    out(
      'words',
      list.map(({ path }) => [_.camelCase(path), _.kebabCase(path), _.words(path), _.deburr(`é${path}`)]),
    )
    out('arrays', [
      _.chunk(_.range(50), 7),
      _.zip([1, 2], [3]),
      _.flattenDeep([1, [2, [3, [4]]]]),
      _.xor([1, 2], [2, 3]),
    ])
    out('template', _.template('<% for (const it of list) { %><li><%- it.path %></li><% } %>')({ list }))
    out('sums', [
      _.sumBy(_.range(999), (i: number) => i % 7),
      _.meanBy(list, 'path.length'),
      _.uniqWith([{ a: 1 }, { a: 1 }], _.isEqual),
    ])
    const memo = _.memoize((n: number): number => (n < 2 ? n : memo(n - 1) + memo(n - 2)))
    out('functions', [
      memo(60),
      _.curry((a: number, b: number) => a - b)(9)(4),
      _.flow([_.trim, _.upperFirst])(' ab '),
    ])
  },
}

const mathjs: Suite = {
  name: 'mathjs',
  packages: [
    ...['mathjs', 'complex.js', 'decimal.js', 'fraction.js', 'escape-latex', 'javascript-natural-sort'],
    ...['seedrandom', 'tiny-emitter', 'typed-function', '@babel/runtime'],
  ],
  async run(out) {
    const { create, all } = await load('mathjs')
    const math = create(all, { randomSeed: 'seed' })
    const expressions = [
      ...[
        '2 + 3 * 4 ^ 2 / (1 - 5)^2',
        'sqrt(-4) + e^(i pi)',
        '5 cm + 0.2 m in inch',
        'det([[1, 2], [3, 4]])',
      ],
      ...[
        'inv([[2, 1, 1], [1, 3, 2], [1, 0, 0]])',
        'f(x) = x^3 - x; f(1.5)',
        'sort([3, 1, 2], "desc")',
        '17 mod 5 xor 1',
      ],
      ...[
        'bignumber(1) / 3',
        'fraction(1, 3) + 1/4',
        'eigs([[2, 1], [1, 2]]).values',
        'lusolve([[1, 2], [3, 4]], [5; 6])',
      ],
      ...[
        'gamma(5.5)',
        'std([1, 2, 3, 4])',
        'random(1, 9)',
        'combinations(10, 3)',
        'fft([1, 2, 3, 4])',
        'format(1/3, 5)',
      ],
      ...[
        'map([1, 2, 3], g(x) = x^2)',
        'zeros(3, 3) + identity(3)',
        'to(100 km/h, m/s)',
        'bin(37)',
        'isPrime(7919)',
      ],
    ]
    for (const text of expressions) out(text, math.format(math.evaluate(text), { precision: 14 }))
    for (const text of ['x^2 * sin(x)', 'log(2 x + 1) / x', 'e^(-x^2)']) {
      out(`derivative ${text}`, math.derivative(text, 'x').toString())
      out(`simpler ${text}`, math.simplify(`${text} + 0 * y + 1 * z - z`).toTex())
    }
    const size = 24
    const grid = math.matrix(
      Array.from({ length: size }, (_, i) =>
        Array.from({ length: size }, (_, j) => Math.sin(i * j + i) + (i === j ? 9 : 0)),
      ),
    )
    out('matrices', math.multiply(math.inv(grid), grid, math.transpose(grid)).toArray())
    math.config({ number: 'BigNumber', precision: 80 })
    out('digits', math.evaluate('pi * sqrt(2) ^ exp(1)').toString())
    for (const wrong of ['1 +', 'foo(1)', '[1, 2] * [1, 2, 3]', '5 cm + 2 s'])
      out(
        wrong,
        messageOf(() => math.evaluate(wrong)),
      )
  },
}

const jpeg: Suite = {
  name: 'jpeg-js',
  packages: ['jpeg-js'],
  small: true,
  async run(out) {
    const { encode, decode } = (await load('jpeg-js')).default
    for (const quality of [5, 50, 95]) {
      const file = encode({ ...photo(301, 203, { seed: quality }) }, quality).data
      out(`encoded ${quality}`, file)
      out(`decoded ${quality}`, decode(file, { useTArray: true }).data)
      out(
        `cut ${quality}`,
        messageOf(() => decode(file.subarray(0, file.length >> 1), { tolerantDecoding: false }).width),
      )
    }
  },
}

const png: Suite = {
  name: 'fast-png',
  packages: ['fast-png', 'iobuffer', 'fflate'],
  small: true,
  async run(out) {
    const { encode, decode } = await load('fast-png')
    const { gzipSync, unzlibSync, zlibSync, strToU8, unzipSync, zipSync } = await load('fflate')
    const picture = photo(257, 190, { alpha: true })
    for (const level of [0, 4, 9]) {
      const file = encode({ ...picture, channels: 4, depth: 8 }, { zlib: { level } })
      out(`encoded ${level}`, file)
      out(`decoded ${level}`, decode(file).data)
    }
    const text = strToU8(filesOf('package-lock.json')[0]!.text)
    for (const level of [1, 6, 9]) out(`text ${level}`, unzlibSync(zlibSync(text, { level })))
    out('packed', gzipSync(text, { level: 9, mtime: 0 }))
    out('archive', unzipSync(zipSync({ 'a.txt': text, b: { c: strToU8('c') } }, { mtime: 1e12 })))
    out(
      'wrong',
      messageOf(() => unzlibSync(new Uint8Array([120, 156, 255, 255]))),
    )
  },
}

const zod: Suite = {
  name: 'zod',
  packages: ['zod'],
  small: true,
  async run(out) {
    const { z } = await load('zod')
    const entry = z.looseObject({
      version: z.string().regex(/^\d/).optional(),
      license: z.string().default('none'),
      dev: z.coerce.boolean().optional(),
    })
    const lock = z.object({ lockfileVersion: z.number().int().min(2), packages: z.record(z.string(), entry) })
    out('parsed', lock.parse(JSON.parse(filesOf('package-lock.json')[0]!.text)))
    const strict = z.strictObject({
      a: z.union([z.string().email(), z.number().multipleOf(3)]),
      b: z.tuple([z.enum(['x', 'y']), z.bigint()]).rest(z.date()),
      c: z.discriminatedUnion('k', [
        z.object({ k: z.literal(1) }),
        z.object({ k: z.literal(2), v: z.url() }),
      ]),
    })
    const inputs = [
      { a: 9, b: ['x', 1n], c: { k: 1 } },
      { a: 'a@b.c', b: ['z', 1], c: { k: 2, v: 'no' }, d: 1 },
      { a: 10, b: [], c: { k: 3 } },
    ]
    inputs.forEach((input, index) => {
      const { success, error, data } = strict.safeParse(input)
      out(`strict ${index}`, success ? data : JSON.stringify(error.issues))
    })
    out('schema', z.toJSONSchema(lock))
  },
}

export const computations: readonly Suite[] = [lodash, mathjs, jpeg, png, zod]
