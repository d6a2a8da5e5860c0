/** The state of a cluster as metrics, in the text format of Prometheus. */

import type { OverloadStatus } from '../model/overload.ts'
import type { ClusterState } from './state-document.ts'

interface Metric {
  name: string
  type: 'counter' | 'gauge'
  help: string
  values: (readonly [labels: Readonly<Record<string, string>>, value: number])[]
}

export function metricsText(state: ClusterState): string {
  return [...jobMetrics(state), ...overloadMetrics(state)].map(textOf).join('')
}

function jobMetrics(state: ClusterState): Metric[] {
  const { counters, waiting, placed, away, ready, draining, booting, direct } = state
  const { accepted, results, errors, refused, unknown, cancelled, dropped, retries } = counters
  const ended = { result: results, error: errors, refused, unknown, cancelled, dropped }
  return [
    { ...counter('jobs_accepted_total', 'Jobs accepted since the start'), values: [[{}, accepted]] },
    { ...counter('jobs_ended_total', 'Jobs by outcome'), values: labelled('outcome', ended) },
    { ...counter('retries_total', 'Attempts after the first of a job'), values: [[{}, retries]] },
    {
      ...counter(
        'direct_requests_total',
        'Requests that fronts sent to workers without asking, by what came of it',
      ),
      values: labelled('outcome', { answered: direct.answered, 'given-back': direct.givenBack }),
    },
    {
      ...gauge('jobs', 'Jobs that have not ended'),
      values: labelled('state', { queued: waiting.length, placed, away: away.length }),
    },
    {
      ...gauge('workers', 'Workers by state'),
      values: labelled('state', { ready, draining, booting: booting.length }),
    },
  ]
}

function overloadMetrics({ overload, fronts }: ClusterState): Metric[] {
  const processes: [string, OverloadStatus][] = [
    ['main', overload],
    ...fronts.flatMap(({ id, overload: status }) =>
      status ? [[id, status] as [string, OverloadStatus]] : [],
    ),
  ]
  const of = (value: (status: OverloadStatus) => number): Metric['values'] =>
    processes.map(([name, status]) => [{ process: name }, value(status)])
  return [
    { ...gauge('overload_step', 'Overload step, 0 to 3'), values: of(({ step }) => step) },
    { ...gauge('overload_pressure', 'Share of shedding, 0 to 1'), values: of(({ pressure }) => pressure) },
    {
      ...gauge('event_loop_delay_seconds', 'How late the event loop is on average'),
      values: processes.flatMap(([process, { loopMs }]): Metric['values'] =>
        loopMs === undefined ? [] : [[{ process }, loopMs / 1000]],
      ),
    },
    { ...gauge('overload_held', 'Requests whose bodies wait'), values: of(({ held }) => held) },
    { ...counter('overload_shed_total', 'Requests shed'), values: of(({ shed }) => shed) },
    {
      ...counter('refused_connections_total', 'Connections refused'),
      values: of(({ refusedConnections }) => refusedConnections),
    },
    {
      ...counter('refused_requests_total', "Requests over their client's limit"),
      values: of(({ refusedRequests }) => refusedRequests),
    },
  ]
}

const counter = (name: string, help: string) => ({ name, help, type: 'counter' as const })
const gauge = (name: string, help: string) => ({ name, help, type: 'gauge' as const })

function labelled(label: string, values: Readonly<Record<string, number>>): Metric['values'] {
  return Object.entries(values).map(([name, value]) => [{ [label]: name }, value])
}

function textOf({ name, type, help, values }: Metric): string {
  const lines = values.map(([labels, value]) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
    return `plimsoll_${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`
  })
  return `# HELP plimsoll_${name} ${help}.\n# TYPE plimsoll_${name} ${type}\n${lines.join('')}`
}
