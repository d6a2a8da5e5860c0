/** Compilers and formatters, run on TypeScript of this repository and JavaScript of other packages. */
import { fileOf, filesOf, load } from './inputs.ts'
import { messageOf, type Suite } from './suite.ts'

const typescript: Suite = {
  name: 'typescript',
  packages: ['@ts-morph/common', 'minimatch', 'brace-expansion', 'balanced-match', 'path-browserify'],
  async run(out) {
    const { ts, getLibFiles, libFolderInMemoryPath } = (await load('@ts-morph/common')).default
    const files = new Map(
      filesOf('src/{brain,simulate,lib,model}/**/*.ts').map(({ name, text }) => [`/${name}`, text]),
    )
    for (const { fileName, text } of getLibFiles()) files.set(`${libFolderInMemoryPath}/${fileName}`, text)
    const written: Record<string, string> = {}
    const host = {
      fileExists: (name: string) => files.has(name),
      readFile: (name: string) => files.get(name),
      getSourceFile: (name: string, target: unknown) =>
        files.has(name) ? ts.createSourceFile(name, files.get(name), target, true) : undefined,
      getDefaultLibFileName: () => `${libFolderInMemoryPath}/lib.esnext.d.ts`,
      writeFile: (name: string, text: string) => {
        written[name] = text
      },
      getCurrentDirectory: () => '/',
      getCanonicalFileName: (name: string) => name,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
    }
    const options = {
      strict: true,
      target: ts.ScriptTarget.ES2017,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      sourceMap: true,
      lib: ['lib.esnext.d.ts'],
      types: [],
    }
    const roots = [...files.keys()].filter((name) => name.startsWith('/src/brain/'))
    const program = ts.createProgram(roots, options, host)
    out('diagnostics', ts.formatDiagnostics(ts.getPreEmitDiagnostics(program), host))
    program.emit()
    for (const [name, text] of Object.entries(written)) out(name, text)
    const { text } = fileOf('lodash', 'lodash.js')
    const target = ts.ScriptTarget.ES5
    out(
      'lodash as ES5',
      ts.transpileModule(text, { compilerOptions: { target, removeComments: true } }).outputText,
    )
  },
}

const babel: Suite = {
  name: '@babel/parser',
  packages: ['@babel/parser'],
  small: true,
  async run(out) {
    const { parse, parseExpression } = await load('@babel/parser')
    for (const { name, text } of filesOf('src/{meter,worker}/*.ts')) {
      out(
        name,
        JSON.stringify(parse(text, { sourceType: 'module', plugins: ['typescript'], tokens: true }).program),
      )
    }
    const { name, text } = fileOf('lodash', 'lodash.js')
    out(name, JSON.stringify(parse(text, { errorRecovery: true })))
    out('expression', JSON.stringify(parseExpression('a?.b ?? (c ||= d) ** -e.f[`g`]')))
    for (const wrong of [
      'let a; let a',
      'for (const x of) {}',
      'class A { #a; #a }',
      'async () => { await }',
    ]) {
      out(
        wrong,
        messageOf(() => parse(wrong)),
      )
    }
  },
}

const terser: Suite = {
  name: 'terser',
  packages: ['terser', '@jridgewell/source-map', '@jridgewell/gen-mapping', '@jridgewell/trace-mapping'],
  async run(out) {
    const { minify } = await load('terser')
    const inputs = [
      fileOf('lodash', 'lodash.js'),
      fileOf('json5', 'dist/index.js'),
      fileOf('markdown-it', 'dist/markdown-it.mjs'),
    ]
    for (const { name, text } of inputs) {
      const { code, map } = await minify(
        { [name]: text },
        { compress: { passes: 2 }, sourceMap: true, mangle: true },
      )
      out(name, code)
      out(`${name}.map`, map)
    }
    out('readable', (await minify(inputs[1]!.text, { output: { beautify: true }, compress: false })).code)
  },
}

const prettier: Suite = {
  name: 'prettier',
  packages: ['prettier'],
  async run(out) {
    const { format } = await load('prettier')
    const inputs = [
      ...filesOf('src/meter/*.ts'),
      ...filesOf('*.md'),
      ...filesOf('package.json'),
      fileOf('json5', 'dist/index.js'),
    ]
    for (const { name, text } of inputs) {
      out(name, await format(text, { filepath: name, semi: name.length % 2 === 0, printWidth: 60 }))
    }
    out(
      'css',
      await format('a{color:RED;&:hover{margin:0 auto}}@media (min-width:1px){b{c:d}}', { parser: 'css' }),
    )
    out('yaml', await format('a:   [1,2]\nb:\n    - c: "d"\n', { parser: 'yaml' }))
    out('html', await format('<ul><li>a<li><b>c</b></ul><script>if(a)b()</script>', { parser: 'html' }))
  },
}

const acorn: Suite = {
  name: 'acorn',
  packages: ['acorn'],
  small: true,
  async run(out) {
    const { parse, tokenizer } = await load('acorn')
    const itself = fileOf('acorn', 'dist/acorn.mjs')
    for (const { name, text } of [
      itself,
      fileOf('jpeg-js', 'lib/decoder.js'),
      fileOf('lodash', 'lodash.js'),
    ]) {
      const sourceType = name.endsWith('.mjs') ? 'module' : 'script'
      out(name, JSON.stringify(parse(text, { ecmaVersion: 'latest', sourceType, locations: true })))
    }
    out(
      'tokens',
      [...tokenizer(itself.text, { ecmaVersion: 'latest', sourceType: 'module' })].map(({ type, start }) => [
        type.label,
        start,
      ]),
    )
    for (const wrong of ['var', 'a b', '/[/', 'yield = 1; "use strict"; with (a) {}', '`${']) {
      out(
        wrong,
        messageOf(() => parse(wrong, { ecmaVersion: 2024 })),
      )
    }
  },
}

export const compilers: readonly Suite[] = [typescript, babel, terser, prettier, acorn]
