/** Compiles the package into `dist/`: code, the type declarations of what is exported, and files that the code reads. */

import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isTestCode } from '../tidy/files.ts'
import { addCompiledCode } from './compiled-models.ts'
import { reachable, withCompiledNames } from './declarations.ts'
import { compiled, exportedSources, type Manifest } from './manifest.ts'

export async function build(root: string): Promise<void> {
  const dist = join(root, 'dist')
  rmSync(dist, { recursive: true, force: true })
  execFileSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  finishDeclarations(root)
  for (const file of otherFiles(root)) cpSync(join(root, file), join(dist, file))
  await addCompiledCode(dist)
}

function finishDeclarations(root: string): void {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const entries = exportedSources(manifest).map((source) => join(root, compiled(source, '.d.ts')))
  const wanted = reachable(entries, (path) => readFileSync(path, 'utf8'))
  for (const name of globSync('dist/**/*.d.ts', { cwd: root })) {
    const path = join(root, name)
    if (wanted.has(path)) writeFileSync(path, withCompiledNames(readFileSync(path, 'utf8')))
    else rmSync(path)
  }
}

/** Files that `tsc` does not write, for example JSON that is read at run time. */
function otherFiles(root: string): string[] {
  return globSync('{src,workloads}/**/*.*', { cwd: root }).filter(
    (file) => !/\.(ts|js|md)$/.test(file) && !isTestCode(file),
  )
}
