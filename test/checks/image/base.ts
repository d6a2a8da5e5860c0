/**
 * Makes a base image of the name that the Dockerfile expects, because none can be pulled everywhere: Debian from debootstrap, the
 * project's Node, the npm that runs the check, and a user `node` of uid 1000, as in the official image.
 */

import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { command, type Engine } from './commands.ts'

const suite = 'bookworm'
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** `cache`: keeps the file system for the next run. `npm`: the path of npm's `bin/npm-cli.js`. */
export function makeBase(engine: Engine, name: string, cache: string, npm: string): void {
  const archive = join(cache, `${suite}-node-${process.versions.node}.tar`)
  if (!existsSync(archive)) makeArchive(archive, npm)
  const container = engine.buildah('from', 'scratch').trim()
  engine.buildah('add', '--quiet', container, archive, '/')
  engine.buildah('config', '--env', `PATH=${path}`, '--cmd', 'node', container)
  engine.buildah('commit', '--quiet', '--rm', container, name)
}

function makeArchive(archive: string, npm: string): void {
  const root = `${archive}.root`
  rmSync(root, { recursive: true, force: true })
  mkdirSync(dirname(archive), { recursive: true })
  try {
    command('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite, root])
    for (const folder of ['var/cache/apt/archives', 'var/lib/apt/lists'])
      rmSync(join(root, folder), { recursive: true })
    cpSync(process.execPath, join(root, 'usr/local/bin/node'))
    cpSync(dirname(dirname(npm)), join(root, 'usr/local/lib/node_modules/npm'), {
      recursive: true,
      dereference: true,
    })
    for (const program of ['npm', 'npx'])
      symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(root, 'usr/local/bin', program))
    copyNpmSettings(root)
    command('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node'])
    command('tar', ['-C', root, '-cf', `${archive}.new`, '.'])
    renameSync(`${archive}.new`, archive)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** The registry of this machine and the certificates that it is trusted by. */
function copyNpmSettings(root: string): void {
  const get = (name: string) => command('npm', ['config', 'get', name]).trim()
  const [registry, cafile] = [get('registry'), get('cafile')]
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  const hasOwn = existsSync(cafile)
  if (hasOwn) cpSync(cafile, join(root, certificates))
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true })
  const lines = [`registry=${registry}`, ...(hasOwn ? [`cafile=${certificates}`] : [])]
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `${lines.join('\n')}\n`)
}
