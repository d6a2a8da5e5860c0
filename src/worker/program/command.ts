/** Placeholders in a program's command, which are replaced by its address. */

export function placeholderIn(command: readonly string[]): 'port' | 'socket' | undefined {
  const has = (name: string) => command.some((argument) => argument.includes(name))
  return has('{socket}') ? 'socket' : has('{port}') ? 'port' : undefined
}

export function fillPlaceholders(
  command: readonly string[],
  address: { port: number } | { socket: string },
): string[] {
  const [name, value] = 'port' in address ? ['{port}', `${address.port}`] : ['{socket}', address.socket]
  return command.map((argument) => argument.replaceAll(name, value))
}
