/**
 * Tries the packed package as a new user would, in empty folders, with the project's Node and with the newest one: `init`,
 * `up`, workloads in TypeScript and JavaScript, `request`, `estimate`, imports and types, in ESM and in CommonJS.
 * Needs npm's registry. node test/checks/package.ts
 */

import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newestNode, oldNode, projectNode } from './package/nodes.ts'
import { pack, wrongFiles } from './package/pack.ts'
import { killGroups, npm, run } from './package/run.ts'
import {
  installedPackages,
  tryGlobally,
  tryOldNode,
  tryOwnWorkloads,
  tryReadyWorkloads,
  tryWithoutAws,
} from './package/trial.ts'

/** The whole check takes two minutes on an idle machine. */
const longestMs = 15 * 60_000

const root = join(import.meta.dirname, '..', '..')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'plimsoll-package-')))

process.on('exit', () => {
  killGroups()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
setTimeout(() => {
  console.error(`package: not done after ${longestMs / 60_000} min`)
  process.exit(1)
}, longestMs).unref()

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  try {
    const result = await work()
    console.log(`${name}: good, ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    return result
  } catch (error) {
    console.error(`${name}: FAILED`)
    throw error
  }
}

/** What the sources export, by the path that users import: `plimsoll`, `plimsoll/workload`. */
async function exportedNames(): Promise<Record<string, string[]>> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string>
  }
  const modules = Object.entries(exports).filter(([, file]) => file.endsWith('.ts'))
  const names = modules.map(async ([path, file]) => {
    const module = (await import(join(root, file))) as object
    return [`plimsoll${path.slice(1)}`, Object.keys(module).sort()] as const
  })
  return Object.fromEntries(await Promise.all(names))
}

async function main(): Promise<void> {
  const packed = await step('npm pack', () => pack(root, folder))
  assert.deepEqual(wrongFiles(packed.files), [])

  const installed = join(folder, 'installed')
  mkdirSync(installed)
  const place = { cwd: installed, node: projectNode.path }
  const install = npm('install', '--no-save', '--no-package-lock', '--ignore-scripts', packed.tarball)
  await step('npm install', () => run(place, install))
  const packages = installedPackages(installed)

  const old = await step('an old Node', () => oldNode(folder))
  await step(`Node ${old.version} is refused`, () =>
    tryOldNode({ cwd: installed, node: old.path }, old.version),
  )
  await step('no package of AWS', () => tryWithoutAws(place))
  const newest = await step('the newest Node', () => newestNode(folder))
  const exported = await exportedNames()
  const copy = (name: string) => {
    cpSync(installed, join(folder, name), { recursive: true, verbatimSymlinks: true })
    return join(folder, name)
  }
  for (const { version, path: node } of [projectNode, newest]) {
    for (const type of ['module', 'commonjs'] as const) {
      const cwd = copy(`${type}-${version}`)
      mkdirSync(join(cwd, 'node_modules', '@types'))
      symlinkSync(join(root, 'node_modules', '@types', 'node'), join(cwd, 'node_modules', '@types', 'node'))
      const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
      await step(`own workloads, type ${type}, Node ${version}`, () =>
        tryOwnWorkloads({ cwd, node, type, exported, tsc }),
      )
    }
    const cwd = copy(`ready-${version}`)
    await step(`ready workloads, Node ${version}`, () => tryReadyWorkloads({ cwd, node }))
  }

  const empty = join(folder, 'empty')
  mkdirSync(empty)
  const prefix = join(folder, 'global')
  await step('installed globally', async () => {
    await run(place, npm('install', '--global', '--ignore-scripts', '--prefix', prefix, packed.tarball))
    await tryGlobally({ cwd: empty, node: projectNode.path }, join(prefix, 'bin', 'plimsoll'))
  })
  const { bytes, unpackedBytes, files } = packed
  const nodes = [projectNode.version, newest.version]
  console.log(
    JSON.stringify({ bytes, unpackedBytes, files: files.length, packages, nodes, old: old.version }),
  )
}

await main()
