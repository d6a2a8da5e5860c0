/** Measures the constants of a preset on this machine, as the authors of its document did on theirs. */

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConfigError } from '../lib/errors.ts'
import { oneOf } from '../lib/one-of.ts'
import { measuredConstants } from '../systems/presets.ts'
import { cloudprime } from './calibrate/cloudprime.ts'
import { cnv } from './calibrate/cnv.ts'
import { configText } from './calibrate/config-file.ts'
import { ecowork } from './calibrate/ecowork.ts'
import type { Bench, Experiment, Found } from './calibrate/experiment.ts'
import { figureSvg } from './calibrate/figure.ts'
import { hillclimbing } from './calibrate/hillclimbing.ts'
import { inLab } from './calibrate/lab.ts'
import { tiered } from './calibrate/tiered.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { interruptible } from './terminal/interrupt.ts'
import { progressLine } from './terminal/progress.ts'
import { table } from './terminal/table.ts'

const experiments = { tiered, cloudprime, cnv, hillclimbing, ecowork } satisfies Record<string, Experiment>

const options = {
  preset: {
    type: 'text',
    help: 'the preset whose constants are measured',
    choices: Object.keys(experiments),
  },
  quick: { type: 'flag', help: 'fewer and shorter requests: minutes of the document take a second' },
  out: {
    type: 'text',
    help: 'configuration file to write; default: plimsoll.PRESET.yaml',
    value: 'FILE',
    path: 'one',
  },
  peak: {
    type: 'number',
    help: 'requests per second in the busiest hour of the day, for the hourly table of tiered',
    default: 100,
    min: 0.001,
    max: 1e6,
  },
  figures: {
    type: 'text',
    help: 'folder for figures of the measurements, as SVG',
    value: 'DIR',
    path: 'one',
  },
} as const

/** The documents' minutes are divided by this. */
const shorter = { quick: 60, full: 10 }

export const calibrate: Command = {
  summary: 'Measure the constants of a preset on this machine, and write a configuration with them.',
  usage: '--preset NAME [options]',
  options,
  async run(args) {
    const { preset, quick, peak, figures, out } = readOnlyOptions('calibrate', args, options)
    if (preset === undefined)
      throw new ConfigError(`--preset: required: one of ${Object.keys(experiments).join(', ')}`)
    const experiment: Experiment = oneOf('--preset', preset, experiments)
    const file = out ?? `plimsoll.${preset}.yaml`
    if (!/\.ya?ml$/.test(file)) throw new ConfigError(`--out = ${file}: must end with .yaml or .yml`)
    if (!existsSync(dirname(file))) throw new ConfigError(`--out = ${file}: its folder does not exist`)
    return interruptible(async (signal) => {
      const found = await measured(preset, experiment, { quick, peakPerSecond: peak }, signal)
      const usual = measuredConstants[preset as keyof typeof measuredConstants]
      await writeFile(file, configText({ preset, quick, at: new Date(), findings: found.findings, usual }))
      if (figures !== undefined) await writeFigures(figures, found)
      tell(found, usual)
      console.log(`\nWritten to ${file}. To use it: plimsoll up --preset ${preset} --config ${file}`)
      return 0
    })
  },
}

async function measured(
  preset: string,
  experiment: Experiment,
  { quick, peakPerSecond }: Pick<Bench, 'quick' | 'peakPerSecond'>,
  signal: AbortSignal,
): Promise<Found> {
  const line = progressLine()
  const began = performance.now()
  const bench: Bench & { done: number } = {
    ...{ quick, peakPerSecond, shorter: quick ? shorter.quick : shorter.full, done: 0 },
    step(what) {
      const fraction = Math.min(1, bench.done++ / experiment.steps(quick))
      line.show(fraction, what)
      const seconds = Math.round((performance.now() - began) / 1000)
      if (!process.stderr.isTTY) console.error(`${seconds} s, ${Math.round(fraction * 100)} %: ${what}`)
    },
  }
  const log = (text: string) => console.error(text)
  const parts = { preset, log, signal, ...(experiment.meter && { meter: experiment.meter }) }
  try {
    return await inLab(parts, (lab) => experiment.run(lab, bench))
  } finally {
    line.done()
  }
}

async function writeFigures(folder: string, { figures }: Found): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const figure of figures) await writeFile(join(folder, `${figure.name}.svg`), figureSvg(figure))
}

function tell({ findings }: Found, usual: Readonly<Record<string, unknown>>): void {
  const rows = findings.map(({ constant, value }) => [constant, String(value), String(usual[constant])])
  console.log(table(['constant', 'measured', 'preset'], rows))
}
