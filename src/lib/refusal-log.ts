/** Logs connections that are refused. */

/** They are logged at most this often, so that an attacker cannot fill the log. */
const everyMs = 10_000

/** `where`: the part that refuses them. */
export function refusalLog(
  where: string,
  log: (line: string) => void,
  now = () => performance.now(),
): (address: string, why: string) => void {
  let [nextAt, unlogged] = [-Infinity, 0]
  return (address, why) => {
    if (now() < nextAt) return void unlogged++
    const more = unlogged === 0 ? '' : `; ${unlogged} more since the last message`
    log(`${where}: a connection from ${address} was refused: ${why}${more}`)
    nextAt = now() + everyMs
    unlogged = 0
  }
}
