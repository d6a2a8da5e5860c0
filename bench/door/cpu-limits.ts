/** Limits processes to a part of a core, each by a CPU control group of its own, so that more of them have more CPU time. */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = '/sys/fs/cgroup'
/** Time that a process gets in each period: a tenth of a core. */
const [quotaUs, periodUs] = [2_000, 20_000]

interface Group {
  folder: string
  pid: number
  /** Where the process was before. */
  home: string
}

/** Version 1 of control groups has a folder for the controller, version 2 one for all. */
function controller(): { folder: string; isFirst: boolean } {
  try {
    readFileSync(join(root, 'cpu', 'cpu.cfs_quota_us'))
    return { folder: join(root, 'cpu'), isFirst: true }
  } catch {
    return { folder: root, isFirst: false }
  }
}

function homeOf(pid: number, folder: string, isFirst: boolean): string {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'latin1')
    .split('\n')
    .map((line) => line.split(':'))
  const [, , path = '/'] =
    lines.find(([, names]) => (isFirst ? names!.split(',').includes('cpu') : names === '')) ?? []
  return join(folder, path)
}

/** Returns how to end the limits. Throws if this system does not let us limit processes. */
export function limitCpu(pids: readonly number[]): () => void {
  const { folder, isFirst } = controller()
  const groups: Group[] = []
  const end = () => {
    for (const group of groups.splice(0)) release(group)
  }
  try {
    if (!isFirst) writeFileSync(join(folder, 'cgroup.subtree_control'), '+cpu')
    for (const pid of pids) {
      const group = {
        folder: join(folder, `plimsoll-bench-${process.pid}-${pid}`),
        pid,
        home: homeOf(pid, folder, isFirst),
      }
      mkdirSync(group.folder)
      groups.push(group)
      const set = (file: string, value: string) => writeFileSync(join(group.folder, file), value)
      if (isFirst) {
        set('cpu.cfs_period_us', `${periodUs}`)
        set('cpu.cfs_quota_us', `${quotaUs}`)
      } else set('cpu.max', `${quotaUs} ${periodUs}`)
      set('cgroup.procs', `${pid}`)
    }
  } catch (error) {
    end()
    throw error
  }
  return end
}

/** False, with a line that says why: this system does not let us limit processes. */
export function canLimitCpu(): boolean {
  try {
    limitCpu([process.pid])()
    return true
  } catch (error) {
    console.error(`no process can be limited to a part of a core here: ${(error as Error).message}`)
    return false
  }
}

function release({ folder, pid, home }: Group): void {
  try {
    writeFileSync(join(home, 'cgroup.procs'), `${pid}`)
  } catch (error) {
    // It has ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
  rmdirSync(folder)
}
