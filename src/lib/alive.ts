/** True: a process has this id. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It may belong to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
