/** Which addresses and names are this machine. */

import { networkInterfaces } from 'node:os'

/** True: what is sent there never leaves this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return /^(::ffff:)?127(\.\d{1,3}){3}$/.test(name) || name === '::1' || /^(.+\.)?localhost$/.test(name)
}

/** True: a loopback address, or the address of an interface of this machine. */
export function isThisMachine(host: string): boolean {
  if (isLoopback(host)) return true
  return Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === host))
}
