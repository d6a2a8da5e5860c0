/** The command that starts a slot, with its setup. */
import { hash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { originalPath } from '../../lib/kept-path.ts'
import { defaultMeter, type MeterOptions } from '../../meter/hooks.ts'
import type { MeterExtras, MeterSetting } from '../../model/metering.ts'
import type { MeteredCode } from '../metered-code.ts'
import { passedEnvironment } from '../processes/environment.ts'
import type { SlotCommand } from './slot.ts'
import { heapSizes, launcher } from './slot-limits.ts'

/** Passed to a slot as JSON in its only argument. */
export interface SlotSetup {
  dataDir: string
  files: string[]
  /** A file that holds the modules of a slot, for the next one. */
  bootCache: string
  /** Undefined: nothing is metered. */
  meter?: MeterOptions & Pick<MeterExtras, 'steps'> & { groups?: NonNullable<MeteredCode['groups']> }
}

export interface SlotCommandOptions {
  files: string[]
  dataDir: string
  memoryMb: number
  execArgv?: string[]
  niceness?: number
  meter?: MeterSetting
  metered?: MeteredCode
  /** Environment variables of the worker that workloads may see, besides the usual ones. */
  passEnv?: readonly string[]
}

export function slotCommand(options: SlotCommandOptions): SlotCommand {
  const { memoryMb, execArgv = [], niceness = 0 } = options
  const meter: MeterSetting = options.meter ?? defaultMeter
  const { metered = {}, passEnv = [] } = options
  const { oldMb, semiMb } = heapSizes(memoryMb)
  const dataDir = resolve(options.dataDir)
  const files = options.files.map((file) => resolve(file))
  // Shared by all slots. For TypeScript this also saves loading the type stripper: 120 ms and 25 MB per slot.
  const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE || resolve(dataDir, '.compile-cache')
  const setup: SlotSetup = { dataDir, files, bootCache: bootCacheFile(NODE_COMPILE_CACHE, files, meter) }
  if (meter !== 'off') {
    const { mode, formula, steps } = meter
    const cacheDir = resolve(NODE_COMPILE_CACHE, 'metered')
    const { packages = [], except = [], listed = [], groups = {} } = metered
    const modules = { folders: foldersOf(files), packages: [...packages], except: [...except], listed }
    setup.meter = { mode, formula, ...modules, groups, cacheDir, ...(steps && { steps }) }
  }
  const command = [
    ...launcher(memoryMb),
    process.execPath,
    `--max-old-space-size=${oldMb}`,
    `--max-semi-space-size=${semiMb}`,
    '--disable-warning=ExperimentalWarning',
    // The process that starts the cluster loads the same files and shows this warning.
    '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON',
    ...execArgv,
    fileURLToPath(new URL(`../slot-process/slot-start${extname(import.meta.url)}`, import.meta.url)),
    JSON.stringify(setup),
  ]
  const env = { ...passedEnvironment(process.env, passEnv), NODE_COMPILE_CACHE }
  return { command, env, niceness }
}

/** Slots that load the same files share one. */
function bootCacheFile(folder: string, files: readonly string[], meter: MeterSetting): string {
  const name = hash('sha256', JSON.stringify([files, meter === 'off']), 'hex').slice(0, 32)
  return resolve(folder, 'boot', name)
}

/**
 * The real folders of the files: loaded modules have resolved paths. Modules that a copy of the code only links to have
 * their original ones.
 */
function foldersOf(files: string[]): string[] {
  const folders = files.map((file) => dirname(realPath(file)))
  return [...new Set([...folders, ...folders.map(originalPath)])]
}

function realPath(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    // Loading the missing file reports the error.
    return file
  }
}
