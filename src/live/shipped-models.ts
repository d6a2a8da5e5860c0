/** Reads the models that come with workloads. */

import { existsSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { readShipped, type ShippedModel } from '../estimate/shipped-model.ts'
import { defaultMeter } from '../meter/hooks.ts'
import type { MeterSetting } from '../model/metering.ts'
import { readCode } from '../worker/workload-code.ts'

export interface FoundModel extends ShippedModel {
  /** True: the workload's code is what was measured. */
  isCurrent: boolean
}

/** The path of the model file that belongs to a module of workloads. */
export function modelFile(module: string): string {
  const { dir, name } = parse(module)
  return join(dir, `${name}.model.json`)
}

/** By workload. An invalid file is logged and otherwise ignored. */
export async function findModels(
  files: readonly string[],
  meter: MeterSetting,
  log: (line: string) => void,
): Promise<Map<string, FoundModel>> {
  const found = new Map<string, FoundModel>()
  // Another formula counts in other units.
  if (JSON.stringify(meter) !== JSON.stringify(defaultMeter)) return found
  for (const file of files) {
    const path = modelFile(file)
    if (!existsSync(path)) continue
    const shipped = readShipped(readFileSync(path, 'utf8'))
    // The hash does not depend on the workloads that are served beside it.
    const code = (await readCode([file], meter)).hashes
    const hash = shipped && code[shipped.workload]
    if (hash === undefined)
      log(`estimate: ${path} is ignored: it is not a model of this version for a workload of its module`)
    else found.set(shipped!.workload, { ...shipped!, isCurrent: shipped!.code.includes(hash) })
  }
  return found
}
