/** A program's command, told where to listen. */

/** What a command may say in place of where to listen. */
export function placeIn(command: readonly string[]): 'port' | 'socket' | undefined {
  const has = (name: string) => command.some((word) => word.includes(name))
  return has('{socket}') ? 'socket' : has('{port}') ? 'port' : undefined
}

export function fillIn(command: readonly string[], place: { port: number } | { socket: string }): string[] {
  const [name, value] = 'port' in place ? ['{port}', `${place.port}`] : ['{socket}', place.socket]
  return command.map((word) => word.replaceAll(name, value))
}
