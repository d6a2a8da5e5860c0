import assert from 'node:assert/strict'
import test from 'node:test'
import { repositoryAddress, withAbsoluteLinks } from './absolute-links.ts'
import { reachable, withCompiledNames } from './declarations.ts'
import { isPacked, type Manifest, packedManifest } from './manifest.ts'

test('the packed manifest names compiled files where the repository names sources', () => {
  const manifest: Manifest = {
    name: 'p',
    version: '1.0.0',
    exports: { '.': './src/index.ts', './package.json': './package.json' },
    bin: { p: './src/p.js' },
  }
  const packed = packedManifest(manifest)
  assert.deepEqual(packed, {
    name: 'p',
    version: '1.0.0',
    main: './dist/src/index.js',
    types: './dist/src/index.d.ts',
    exports: {
      '.': { types: './dist/src/index.d.ts', default: './dist/src/index.js' },
      './package.json': './package.json',
    },
    bin: { p: './dist/src/p.js' },
  })
  assert.deepEqual(
    [isPacked(manifest), isPacked(packed as { exports: Record<string, unknown> })],
    [false, true],
  )
})

test('declarations name compiled modules, and only those reachable from an entry are kept', () => {
  const files: Record<string, string> = {
    'a/index.d.ts':
      "export { x } from '../b/x.ts';\nexport type Y = import('./y.ts').Y;\nimport { z } from 'zod';",
    'b/x.d.ts': 'export declare const x: 1;',
    'a/y.d.ts': "export type Y = 'from ./y.ts';",
  }
  assert.deepEqual([...reachable(['a/index.d.ts'], (path) => files[path]!)].sort(), Object.keys(files).sort())
  assert.equal(
    withCompiledNames(files['a/index.d.ts']!),
    "export { x } from '../b/x.js';\nexport type Y = import('./y.js').Y;\nimport { z } from 'zod';",
  )
})

test('links of the packed README name the repository, because the package lacks the pages', () => {
  const at = repositoryAddress({ repository: { url: 'git+https://example.test/o/n.git' } })
  assert.equal(
    withAbsoluteLinks('![a](docs/a.svg) [b](docs/b.md#c) [d](#e) [f](https://g.test/h)', at),
    '![a](https://example.test/o/n/raw/HEAD/docs/a.svg) [b](https://example.test/o/n/blob/HEAD/docs/b.md#c) [d](#e) [f](https://g.test/h)',
  )
})
