/**
 * Records requests of the ready workloads for simulations: `workloads/NAME.requests.json`. Each is metered as in the system
 * that the workload belongs to. Work is exact, so that the same code gives the same file. Run it after a change of a workload
 * or of the meter: `npm run -s requests`, or with names of workloads.
 */
import { writeFileSync } from 'node:fs'
import { recordingFile, recordingText } from '../src/simulate/recorded/recording.ts'
import { presetOf } from '../src/systems/presets.ts'
import { recordedPresets, recorderOf, seed } from './requests/record.ts'

/** More where a system has only one workload, fewer where requests take long to prepare. */
const counts: Readonly<Record<string, number>> = { factorize: 800, shop: 400, hillclimb: 400, compress: 120 }
const usualCount = 200

const asked = process.argv.slice(2)
const isWanted = (name: string) => asked.length === 0 || asked.includes(name)
const all = recordedPresets.flatMap((preset) => presetOf(preset).workloads ?? [])
const unknown = asked.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`requests: there is no ready workload ${unknown.join(', ')}; there are ${all.join(', ')}`)
  process.exit(2)
}
for (const preset of recordedPresets) {
  if (!presetOf(preset).workloads?.some(isWanted)) continue
  const recorder = await recorderOf(preset)
  for (const workload of recorder.workloads.filter(isWanted)) {
    const count = counts[workload] ?? usualCount
    const requests = await recorder.run(workload, [...Array(count).keys()])
    const text = recordingText({ workload, preset, seed, code: recorder.hashOf(workload), requests })
    writeFileSync(recordingFile(workload), text)
    console.log(`${workload}: ${count} requests, ${text.length} characters`)
  }
  await recorder.close()
}
