/** moto's server, which plays EC2 and CloudWatch. It is installed from PyPI into a cache outside the repository. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const version = '5.2.5'
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
const folder = join(cache, 'plimsoll-checks', `moto-${version}`)
const installMs = 400_000
const [startTries, startEveryMs] = [300, 200]

export interface Moto {
  url: string
  stop(): Promise<void>
}

/** Rejects if moto cannot be installed or does not start. */
export async function startMoto(port: number): Promise<Moto> {
  installMoto()
  const url = `http://127.0.0.1:${port}`
  const args = ['-m', 'moto.server', '-H', '127.0.0.1', '-p', `${port}`]
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', join(folder, 'bin', 'python'), ...args], {
    stdio: 'ignore',
    env: { ...process.env, MOTO_EC2_LOAD_DEFAULT_AMIS: 'true' },
  })
  await untilAnswers(url, child)
  return {
    url,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    },
  }
}

/** Several processes may call it at once: all but the first wait. */
function installMoto(): void {
  const done = join(folder, 'installed')
  if (existsSync(done)) return
  mkdirSync(folder, { recursive: true })
  console.error(`installing moto ${version} into ${folder}`)
  const script = `set -e
    [ -e "${done}" ] && exit
    python3 -m venv "${folder}"
    "${folder}/bin/pip" --quiet --disable-pip-version-check install 'moto[server]==${version}'
    touch "${done}"`
  const { status, stderr } = spawnSync('flock', [`${folder}.lock`, 'sh', '-c', script], {
    encoding: 'utf8',
    timeout: installMs,
  })
  if (status !== 0) throw new Error(`moto cannot be installed: ${stderr?.trim().split('\n').at(-1)}`)
}

async function untilAnswers(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < startTries; tries++) {
    if (child.exitCode !== null) throw new Error(`moto ended with code ${child.exitCode}`)
    const answer = await fetch(`${url}/moto-api/`).catch(() => undefined)
    if (answer?.ok) return
    await delay(startEveryMs)
  }
  child.kill('SIGKILL')
  throw new Error('moto does not answer')
}
