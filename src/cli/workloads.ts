import { UnreachableError } from '../lib/errors.ts'
import { loadWorkloads } from '../workload/load.ts'
import { bundledWorkloads, workloadFiles } from './cluster/workload-files.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { getJson } from './terminal/client.ts'
import { clusterUrlFrom, clusterUrlOptions } from './terminal/cluster-url.ts'
import type { Served } from './terminal/served.ts'
import { table } from './terminal/table.ts'

const options = {
  ...clusterUrlOptions,
  json: { type: 'flag', help: 'print JSON instead of a table' },
} as const

type Entry = Pick<Served, 'name' | 'description' | 'path' | 'methods'>

/** The workloads of a cluster. */
export const workloads: Command = {
  summary: 'List the workloads of a cluster, or the bundled ones if no cluster answers.',
  usage: '[options]',
  options,
  async run(args) {
    const values = readOnlyOptions('workloads', args, options)
    const url = await clusterUrlFrom(values)
    let missing: UnreachableError | undefined
    let list: Entry[]
    try {
      list = (await getJson<{ workloads: Entry[] }>(url, '/-/workloads')).workloads
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
      missing = error
      const bundled = await loadWorkloads(workloadFiles(bundledWorkloads))
      list = bundled.map((each) => ({ ...each, path: `/${each.name}` }))
    }
    const entries = list.map(({ name, description }) => ({ name, description }))
    if (values.json) {
      console.log(JSON.stringify({ source: missing ? 'bundled' : url.origin, workloads: entries }))
      return 0
    }
    const routes = list.flatMap(({ name, path, methods }) =>
      methods ? [[name, path, methods.join(', ') || 'any']] : [],
    )
    const rows = list.map(({ name, path, description }) => [name, path, description])
    if (routes.length > 0) console.log(table(['route', 'path', 'methods'], routes, [0, 1, 2]))
    else console.log(table(['workload', 'path', 'what it does'], rows, [0, 1, 2]))
    // On stderr, because another program may read the table.
    if (missing) console.error(`\nThese come with the program, because ${missing.message}`)
    return 0
  },
}
