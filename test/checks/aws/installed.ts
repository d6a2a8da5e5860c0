/** Packages that only checks need, in a cache outside the repository, by name and version. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plimsoll-checks')

/** The folder that `make` fills, unless an earlier run has. */
export function cached(name: string, make: (folder: string) => void): string {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const draft = mkdtempSync(join(cache, 'draft-'))
  try {
    make(draft)
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** Installs exact versions from the registry, without their scripts. Returns the folder of `node_modules`. */
export function npmPackages(name: string, packages: Readonly<Record<string, string>>): string {
  const folder = cached(name, (draft) => {
    writeFileSync(
      join(draft, 'package.json'),
      JSON.stringify({ private: true, name: 'checks', dependencies: packages }),
    )
    // The npm that belongs to this Node may be missing.
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: draft,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    })
  })
  return join(folder, 'node_modules')
}

/** Installs exact versions from PyPI into an environment of its own. Returns the folder of its commands. */
export function pythonPackages(name: string, requirements: readonly string[]): string {
  // Environments cannot be moved, so this one is made in place and marked when it is complete.
  const folder = join(cache, name)
  const mark = join(folder, 'complete')
  const bin = join(folder, 'bin')
  if (existsSync(mark)) return bin
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ('ignore' | 'inherit')[] }
  execFileSync('python3', ['-m', 'venv', folder], quiet)
  execFileSync(
    join(bin, 'pip'),
    ['install', '--quiet', '--disable-pip-version-check', ...requirements],
    quiet,
  )
  writeFileSync(mark, '')
  return bin
}
