/** Where the tokens of a cluster come from: the environment, or files in the data folder that are created at the first start. */

import { readFileSync, readSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { makePrivateFile, makePrivateFolder, privateFile } from '../lib/private-files.ts'
import { newToken, type Role, roles, type Tokens } from '../wire/token.ts'

/** Environment variables. */
export const tokenVariables = {
  worker: 'PLIMSOLL_WORKER_TOKEN',
  front: 'PLIMSOLL_FRONT_TOKEN',
  operator: 'PLIMSOLL_OPERATOR_TOKEN',
} as const satisfies Record<Role, string>

/** 128 random bits in base64url. */
const leastLength = 22
const mostLength = 1024
const allowed = `${leastLength} to ${mostLength} visible ASCII characters, such as the output of: openssl rand -base64 32`

/** The file of a role's token in the data folder of a cluster. */
export function tokenFile(dataDir: string, role: Role): string {
  return join(dataDir, 'tokens', role)
}

/** Tokens that are not given are read from their files, or created there. */
export function openTokens(dataDir: string, given: Partial<Tokens> = {}): Tokens {
  makePrivateFolder(join(dataDir, 'tokens'))
  const [worker, front, operator] = roles.map((role) => given[role] ?? keptToken(tokenFile(dataDir, role)))
  const tokens = { worker: worker!, front: front!, operator: operator! }
  for (const [one, other] of [
    ['worker', 'front'],
    ['worker', 'operator'],
    ['front', 'operator'],
  ] as const) {
    if (tokens[one] === tokens[other])
      throw new ConfigError(`the ${one} token and the ${other} token are equal: each role must have its own`)
  }
  return tokens
}

/** The tokens that the environment gives. */
export function tokensInEnvironment(env: NodeJS.ProcessEnv = process.env): Partial<Tokens> {
  if (env.PLIMSOLL_TOKEN !== undefined)
    throw new ConfigError(
      `PLIMSOLL_TOKEN: each role has a token of its own; set ${Object.values(tokenVariables).join(', ')} instead, or use the files in the data folder`,
    )
  const found = roles.flatMap((role) => {
    const name = tokenVariables[role]
    return env[name] ? [[role, checkToken(name, env[name])]] : []
  })
  return Object.fromEntries(found)
}

/** Modules of workloads, and processes that start later, must not see them. */
export function forgetTokens(env: NodeJS.ProcessEnv = process.env): void {
  for (const name of Object.values(tokenVariables)) delete env[name]
}

/** `from` names the option or the file in errors, which never quote the token. */
export function readToken(file: string, from = file): string {
  let text: string
  try {
    text = file === '-' ? readLine(0) : readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${from}: ${unreadable(file, error as NodeJS.ErrnoException)}`, { cause: error })
  }
  return checkToken(from, text.trim())
}

function checkToken(from: string, token: string): string {
  if (new RegExp(`^[\\x21-\\x7e]{${leastLength},${mostLength}}$`).test(token)) return token
  const what = token === '' ? 'it is empty' : `it has ${token.length} characters`
  throw new ConfigError(`${from}: not a token, because ${what}; must be ${allowed}`)
}

function keptToken(file: string): string {
  try {
    writeFileSync(file, `${newToken()}\n`, { flag: 'wx', mode: privateFile })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new ConfigError(`${file}: cannot be written (${code})`, { cause: error })
    makePrivateFile(file)
  }
  return readToken(file)
}

function unreadable(file: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'no such file'
  const owner = code === 'EACCES' ? ownerOf(file) : undefined
  const run = owner === undefined ? '' : `; it belongs to user ${owner}: run this command as that user`
  return `cannot be read (${code})${run}`
}

function ownerOf(file: string): number | undefined {
  // Others may not look into the folders above it.
  for (const path of [file, dirname(file), dirname(dirname(file))]) {
    try {
      return statSync(path).uid
    } catch {}
  }
  return undefined
}

/** The first line; the rest stays unread. */
function readLine(descriptor: number): string {
  const bytes: number[] = []
  const one = Buffer.alloc(1)
  while (bytes.length <= mostLength + 1 && readSync(descriptor, one) > 0 && one[0] !== 0x0a)
    bytes.push(one[0]!)
  return Buffer.from(bytes).toString('latin1')
}
