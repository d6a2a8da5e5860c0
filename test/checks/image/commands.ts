/** Runs the programs of the check of the image, each to its end. */

import { execFileSync } from 'node:child_process'

/** Longer than any of them takes on a busy machine. */
const longestMs = 10 * 60_000

/** Returns the output. Throws with it if the program fails. */
export function command(program: string, args: readonly string[], input = ''): string {
  try {
    return execFileSync(program, args, {
      ...{ input, encoding: 'utf8', stdio: 'pipe', timeout: longestMs, maxBuffer: 1 << 26 },
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${program} ${args.join(' ')} failed:\n${`${stdout}${stderr}`.slice(-4_000)}`)
  }
}

/** buildah and podman with storage of their own, so that nothing stays on the machine. */
export interface Engine {
  buildah(...args: string[]): string
  podman(args: readonly string[], input?: string): string
}

export function engineIn(folder: string): Engine {
  const storage = ['--root', `${folder}/storage`, '--runroot', `${folder}/run`, '--storage-driver', 'vfs']
  const runs = ['--cgroup-manager', 'cgroupfs', '--runtime', 'crun', '--tmpdir', `${folder}/tmp`]
  return {
    buildah: (...args) => command('buildah', [...storage, ...args]),
    podman: (args, input) => command('podman', [...storage, ...runs, ...args], input),
  }
}
