/** Installs Debian packages that a test needs, where it may. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

const limitMs = 240_000

/**
 * Runs apt-get if this is root on Debian and `isThere` is false; no service is started. `before` is a script that runs before
 * the package is installed. Several processes may call it at once: all but the first wait, and find it installed.
 */
export function installPackage(name: string, isThere: () => boolean, before = ''): void {
  if (isThere() || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return
  console.error(`${name} is not installed; trying apt-get install ${name}`)
  const script = `set -e
    export DEBIAN_FRONTEND=noninteractive
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
      printf '#!/bin/sh\\nexit 101\\n' > $policy
      chmod +x $policy
      trap "rm -f $policy" EXIT
    fi
    apt='apt-get -q -y -o DPkg::Lock::Timeout=200 -o Dpkg::Options::=--force-confold --no-install-recommends'
    apt-get -q update
    ${before}
    $apt install ${name}`
  const { status, stderr } = spawnSync('flock', ['/tmp/plimsoll-apt.lock', 'sh', '-c', script], {
    encoding: 'utf8',
    timeout: limitMs,
  })
  if (status !== 0) console.error(`apt-get failed: ${stderr?.trim().split('\n').at(-1)}`)
}
