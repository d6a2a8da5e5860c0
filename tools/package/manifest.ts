/**
 * The manifest of the published package. In the repository `exports` and `bin` name the sources, which Node runs as they
 * are; in the package they name what was compiled from them, because Node strips no types in node_modules.
 */

export interface Manifest {
  name: string
  version: string
  exports: Readonly<Record<string, string>>
  bin: Readonly<Record<string, string>>
  [field: string]: unknown
}

export function packedManifest(manifest: Manifest): Record<string, unknown> {
  const main = manifest.exports['.']!
  return {
    ...manifest,
    // For tools that do not know `exports`.
    main: compiled(main),
    types: compiled(main, '.d.ts'),
    exports: Object.fromEntries(
      Object.entries(manifest.exports).map(([name, file]) => [name, exported(file)]),
    ),
    bin: Object.fromEntries(Object.entries(manifest.bin).map(([name, file]) => [name, compiled(file)])),
  }
}

export function isPacked({ exports }: { exports: Readonly<Record<string, unknown>> }): boolean {
  return typeof exports['.'] === 'object'
}

/** The source files that `exports` names. */
export function exportedSources({ exports }: Manifest): string[] {
  return Object.values(exports).filter((file) => file.endsWith('.ts'))
}

/** `./src/index.ts`: `./dist/src/index.js` */
export function compiled(source: string, end = '.js'): string {
  return `./dist/${source.replace(/^\.\//, '').replace(/\.[jt]s$/, end)}`
}

function exported(file: string): string | { types: string; default: string } {
  return file.endsWith('.ts') ? { types: compiled(file, '.d.ts'), default: compiled(file) } : file
}
