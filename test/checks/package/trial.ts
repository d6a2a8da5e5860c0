/** One trial of the installed package: what a new user does in the first quarter of an hour. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { libraryOutput } from './library-use.ts'
import { type Place, Running, run } from './run.ts'
import { type PackageType, writeUserFiles } from './user-files.ts'

/** The machine may be busy: only a cluster that hangs takes as long. */
const readyMs = 120_000

export interface Trial extends Place {
  type: PackageType
  /** What the sources export, by the path that users import. */
  exported: Readonly<Record<string, readonly string[]>>
  tsc: string
}

/** `init`, `up`, own workloads, `request`, `estimate`, types and imports. Rejects at the first thing that is wrong. */
export async function tryOwnWorkloads(trial: Trial): Promise<void> {
  const { cwd, type, exported } = trial
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'user', private: true, type }))
  const { stdout } = await plimsoll(trial, 'init')
  assert.match(stdout, /^Then: {2}npx plimsoll up$/m)
  writeUserFiles(cwd, type, Object.keys(exported))
  await withCluster(trial, ['plimsoll', 'up'], async (url) => {
    const answer = await fetch(`${url}/hello?steps=1000`)
    assert.deepEqual(await answer.json(), { hello: 'world', steps: 1000, sum: 499500 })
    assert.ok(Number(answer.headers.get('plimsoll-work')) > 1000, 'hello is metered')
    assert.equal((await fetch(`${url}/hello?steps=x`)).status, 400)
    const typed = await fetch(`${url}/typed?n=1000`)
    assert.deepEqual([typed.status, await typed.json()], [201, { sum: 499500 }])
    assert.ok(
      Number(typed.headers.get('plimsoll-work')) > 1000,
      'a module that a workload imports is metered',
    )
    assert.equal((await fetch(`${url}/typed?n=13`)).status, 422)
    const requested = await plimsoll(trial, 'request', 'plain', 'n=21', '--url', url)
    assert.deepEqual(JSON.parse(requested.stdout), { twice: 42 })
    const estimated = await plimsoll(trial, 'estimate', 'typed', 'n=1000', '--url', url)
    assert.match(estimated.stdout, /^ {2}work {2,}[\d,]+/m)
  })
  await checkImports(trial)
  await tryLibrary(trial)
  for (const project of ['tsconfig.json', 'tsconfig.bare.json']) {
    assert.equal((await run(trial, [process.execPath, trial.tsc, '-p', project])).stdout, '')
  }
}

/** Without a configuration `up` serves the ready workloads. */
export async function tryReadyWorkloads(place: Place): Promise<void> {
  await withCluster(place, ['plimsoll', 'up'], async (url) => {
    const answer = await fetch(`${url}/factorize?n=999985999949`)
    assert.deepEqual(await answer.json(), { n: '999985999949', factors: ['999983', '1000003'] })
    assert.ok(Number(answer.headers.get('plimsoll-work')) > 1e6, 'ready workloads are metered')
    const picture = await fetch(`${url}/julia?width=32&height=32`)
    assert.equal(picture.status, 200)
    assert.ok((await picture.arrayBuffer()).byteLength > 0)
  })
}

/** Installed globally, it works in a folder that has no package at all. */
export async function tryGlobally(place: Place, program: string): Promise<void> {
  await run(place, [program, 'init'])
  await withCluster(place, [program, 'up'], async (url) => {
    const answer = await fetch(`${url}/hello`)
    assert.deepEqual(await answer.json(), { hello: 'world', steps: 1000, sum: 499500 })
    assert.equal((await fetch(`${url}/hello?steps=x`)).status, 400)
  })
}

/** An old Node gets one sentence, through the link that npm makes as well. */
export async function tryOldNode(place: Place, version: string): Promise<void> {
  const [major, minor] = version.split('.')
  const bin = join(place.cwd, 'node_modules', '.bin', 'plimsoll')
  for (const command of [[place.node, bin, '--version'] as const, [bin, 'up'] as const]) {
    const { stdout, stderr } = await run(place, command, 1)
    assert.equal(stdout + stderr, `Plimsoll needs Node 24 or newer; this is ${major}.${minor}\n`)
  }
}

/** The package brings no code of AWS; `up --fleet ec2` says what to install. */
export async function tryWithoutAws(place: Place): Promise<void> {
  assert.ok(!existsSync(join(place.cwd, 'node_modules', '@aws-sdk')), 'no package of AWS is installed')
  const fleet = ['--fleet', 'ec2', '--cluster', 'shop', '--ec2-template', 'workers']
  const join_ = ['--join-address', '127.0.0.1:0', '--ec2-join', '10.0.0.1:8082']
  const command = ['npx', '--no', 'plimsoll', 'up', ...fleet, ...join_, '--data', 'without-aws'] as const
  const { stderr } = await run(place, [...command], 2)
  assert.match(stderr, /^plimsoll: --fleet = ec2 requires npm i @aws-sdk\/client-ec2$/m)
}

/** `npx --no` runs what is installed and never asks to install anything. */
function plimsoll(place: Place, ...args: string[]) {
  return run(place, ['npx', '--no', 'plimsoll', ...args])
}

async function withCluster(
  place: Place,
  [program, ...args]: readonly [string, ...string[]],
  use: (url: string) => Promise<void>,
): Promise<void> {
  const words = [...args, '--port', '0', '--admin-port', '0', '--max', '1']
  const installed = program === 'plimsoll' ? (['npx', '--no', program] as const) : ([program] as const)
  const up = new Running(place, [...installed, ...words])
  try {
    const [, url] = await up.said(/requests +(http:\S+)[\s\S]*Try:/, readyMs)
    await use(url!)
    up.interrupt()
    const { stderr } = await up.ended
    assert.doesNotMatch(stderr, /Warning|Error/, 'nothing is written to stderr that would worry a user')
  } finally {
    up.kill()
  }
  assert.deepEqual(processesIn(place.cwd), [], 'no process is left behind')
}

function processesIn(folder: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8', maxBuffer: 1 << 26 }).split('\n')
  return lines.filter((line) => line.includes(folder))
}

async function checkImports({ exported, ...place }: Trial): Promise<void> {
  for (const file of ['use/import.mjs', 'use/require.cjs']) {
    const { stdout, stderr } = await run(place, [place.node, file])
    assert.deepEqual(JSON.parse(stdout), exported, `${file} finds what the sources export`)
    assert.equal(stderr, '', `${file} warns of nothing`)
  }
}

/** A program that starts a cluster, asks it and simulates leaves nothing behind and prints only its own output. */
async function tryLibrary({ type, ...place }: Trial): Promise<void> {
  const file = type === 'module' ? 'use/library.mts' : 'use/library.cts'
  const { stdout, stderr } = await run(place, [place.node, file])
  assert.deepEqual(JSON.parse(stdout), libraryOutput, file)
  assert.equal(stderr, '', `${file} warns of nothing`)
  assert.deepEqual(processesIn(place.cwd), [], 'no process is left behind')
}

/** Counts installed packages by npm's own list. */
export function installedPackages(folder: string): number {
  const list = join(folder, 'node_modules', '.package-lock.json')
  assert.ok(existsSync(list), `${list} exists`)
  return Object.keys((JSON.parse(readFileSync(list, 'utf8')) as { packages: object }).packages).length
}
