/**
 * The environment of slots and programs: a few variables that most programs need, and variables that the operator passes
 * on by name. Everything else of the operator's environment is withheld, as it may hold secrets.
 */

import { reservedPrefix } from '../../config/pass-env.ts'

/** Besides `LC_*`. */
const usual: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'NODE_ENV'],
  // Certificates of authorities, without which encrypted connections fail in some networks.
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
])

/** A channel of the worker to its parent process, which a child could not use. */
const channel = /^NODE_CHANNEL_/

/** Variables of shells, terminals and npm, which a message about withheld variables leaves out. */
const unimportant =
  /^(?:_|PWD|OLDPWD|SHLVL|TERM|COLORTERM|COLUMNS|LINES|LS_COLORS|HOSTNAME|INIT_CWD|NODE|EDITOR|PAGER|LESS.*|NODE_TEST_.*|NODE_COMPILE_CACHE|(?:npm|XDG|SSH|DBUS|NODE_CHANNEL|PLIMSOLL)_.*)$/i

/** `names` may end in `*`. */
export function passedEnvironment(
  all: NodeJS.ProcessEnv,
  names: readonly string[] = [],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0], names),
    ),
  )
}

function isPassed(name: string, names: readonly string[]): boolean {
  if (name.startsWith(reservedPrefix) || channel.test(name)) return false
  if (usual.has(name) || name.startsWith('LC_')) return true
  return names.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each))
}

/** Names listed in a message. */
const mostNames = 20

/**
 * A line for the log about a process that does not start, which may lack variables. Undefined: none that could matter
 * is withheld. `given` are variables that it has anyway.
 */
export function withheldLine(
  all: NodeJS.ProcessEnv,
  names: readonly string[] = [],
  given: Readonly<Record<string, string>> = {},
): string | undefined {
  const withheld = Object.keys(all)
    .filter((name) => !isPassed(name, names) && !(name in given) && !unimportant.test(name))
    .sort()
  if (withheld.length === 0) return undefined
  const shown = withheld.slice(0, mostNames).join(', ')
  const more = withheld.length > mostNames ? ` and ${withheld.length - mostNames} more` : ''
  return `withheld environment variables: ${shown}${more}; pass what it needs with --pass-env NAME,… (passEnv in the configuration)`
}
