import { setTimeout as wait } from 'node:timers/promises'
import { UnreachableError } from '../lib/errors.ts'
import { count as counted } from '../lib/quantities.ts'
import type { ClusterState } from '../live/cluster.ts'
import type { Figures } from '../model/view.ts'
import { workerNameOf } from '../model/worker.ts'
import { errorText } from '../story/document.ts'
import { sizeText } from '../story/fleet-story.ts'
import { explain } from '../story/reasons.ts'
import { type Command, readOnlyOptions } from './options.ts'
import { moneyText } from './simulation/money.ts'
import { adminFrom, adminOptions } from './terminal/admin.ts'
import { getJson } from './terminal/client.ts'
import { interruptible } from './terminal/interrupt.ts'
import { duration, significant, table } from './terminal/table.ts'
import { fitted } from './terminal/width.ts'

const options = {
  ...adminOptions,
  watch: { type: 'flag', help: 'refresh every second, until Ctrl-C' },
  json: { type: 'flag', help: 'print JSON instead of tables' },
} as const

/** Longer lists are cut. */
const named = 8
/** Scaling steps shown, newest last. */
const mostSteps = 8

/** The present state of a cluster. */
export const status: Command = {
  summary: 'Show the state of a cluster: workers, running jobs and the queue.',
  usage: '[options]',
  options,
  async run(args) {
    const values = readOnlyOptions('status', args, options)
    const { url, token } = await adminFrom(values)
    const read = () => getJson<ClusterState>(url, '/api/state', { token })
    const show = (state: ClusterState) => (values.json ? JSON.stringify(state) : statusText(state))
    const first = show(await read())
    if (!values.watch) {
      console.log(first)
      return 0
    }
    return interruptible(async (signal) => {
      const page = pages(process.stdout, !values.json)
      try {
        for (let text = first; !signal.aborted; ) {
          page.show(text)
          await wait(1000, undefined, { signal }).catch(() => {})
          // A restarted cluster is shown again.
          text = await read().then(show, (error: Error) => {
            if (!(error instanceof UnreachableError)) throw error
            return values.json ? JSON.stringify({ error: error.message }) : error.message
          })
        }
      } finally {
        page.close()
      }
      return 0
    })
  },
}

/** On a terminal each text replaces the one before; elsewhere they follow each other. */
function pages(stream: NodeJS.WriteStream, inPlace: boolean) {
  if (!stream.isTTY || !inPlace) {
    return { show: (text: string) => void stream.write(inPlace ? `${text}\n\n` : `${text}\n`), close() {} }
  }
  // Alternate screen, hidden cursor: afterwards the terminal is restored and the last text printed below.
  stream.write('\u001b[?1049h\u001b[?25l')
  let last = ''
  return {
    show(text: string) {
      last = text
      const lines = `${text}\n\nCtrl-C ends this.`.split('\n')
      const fitting = lines.slice(0, stream.rows || 24).map((line) => line.slice(0, stream.columns || 80))
      stream.write(`\u001b[H${fitting.map((line) => `${line}\u001b[K`).join('\r\n')}\u001b[J`)
    },
    close: () => void stream.write(`\u001b[?1049l\u001b[?25h${last}\n`),
  }
}

export function statusText(state: ClusterState): string {
  const { workers, waiting, booting, launchTroubles, counters, steps } = state
  const running = workers.flatMap(({ jobs }) => jobs).filter((job) => job.running).length
  const { placed, away } = state
  const open = { running, paused: placed - running, queued: waiting.length, 'in functions': away.length }
  const warm = state.functions.filter(({ busy }) => !busy).length
  const totals = [`up ${duration(state.uptimeMs)}`, state.policy, `${counted(state.ready, 'worker')} ready`]
  const more = [
    `money     ${moneyText(state.money)}`,
    state.cache && `cache     ${cacheText(state.cache)}`,
    Object.keys(state.scaling).length > 0 && `scaling   ${scalingText(state.scaling)}`,
    ...Object.entries(state.estimates).map(([name, error]) => `estimates ${name}: ${errorText(error)}`),
    state.functions.length > 0 &&
      `functions ${state.functions.length - warm} at work, ${warm} warm; away ${some(state.away.map(({ job }) => job))}`,
    waiting.length > 0 && `waiting   ${some(waiting)}`,
    state.lanes && `lanes     ${scalingText(state.lanes)}`,
    booting.length > 0 && `booting   ${some(booting.map(workerNameOf))}`,
    ...workers.flatMap(({ id, problem, notice }) => [
      ...(problem === undefined ? [] : [`trouble   worker ${id}: ${problem}`]),
      ...(notice === undefined ? [] : [`trouble   worker ${id}: ${explain(notice)}`]),
    ]),
    ...launchTroubles.map((trouble) => `trouble   ${trouble}`),
    ...overloadLines(state),
  ].filter((line) => typeof line === 'string')
  const history = steps
    .slice(-mostSteps)
    .map((step) => [`${duration(state.now - step.at)} ago`, sizeText(step), step.text])
  return [
    ...[fitted(totals.join(' · ')), fitted(jobsText(counters, open)), '', workersText(workers)],
    ...frontsText(state.fronts),
    ...(more.length > 0 ? ['', ...more.map((line) => fitted(line, 10))] : []),
    ...(history.length > 0
      ? ['', table(['when', 'fleet after it', 'what happened and why'], history, [1, 2])]
      : []),
  ].join('\n')
}

function workersText(workers: ClusterState['workers']): string {
  if (workers.length === 0) return 'No workers.'
  const names = figureNames(workers)
  const head = ['worker', 'state', 'pid', 'cores busy', 'slots taken', 'work left', 'memory of jobs']
  const rows = workers.map((worker) => {
    const {
      id,
      pid,
      address = '–',
      cores,
      slots,
      jobs,
      outstanding,
      figures,
      cpu,
      usedMemoryMb,
      memoryMb,
    } = worker
    return [
      id,
      phaseText(worker),
      pid === undefined ? '–' : `${pid}`,
      // Jobs may share the cores; a job that waits for input or output needs none.
      `${Math.min(cores, jobs.filter((job) => job.running).length)} of ${cores}`,
      `${jobs.length} of ${slots}`,
      outstanding > 0 ? significant(outstanding) : '0',
      `${Math.round(usedMemoryMb)} of ${memoryMb} MB`,
      ...names.map((name) => (name === 'cpu' ? percent(cpu) : figureText(figures[name]))),
      address,
    ]
  })
  return table([...head, ...names.map(words), 'address'], rows, [0, 1, head.length + names.length])
}

function phaseText({ state, suspect, notice, problem }: ClusterState['workers'][number]): string {
  if (suspect) return `${state}, silent`
  if (notice) return `${state}, ${notice.code === 'stalled' ? 'stalled' : 'ejected'}`
  return problem === undefined ? state : `${state}, unhealthy`
}

/** The main process and each front that is overloaded, or has refused anything. */
function overloadLines({ overload, fronts }: ClusterState): string[] {
  const others = fronts.flatMap((front) =>
    front.overload ? [[`front ${front.id}`, front.overload] as const] : [],
  )
  return [['main process', overload] as const, ...others].flatMap(([who, status]) => {
    const { step, doing, why, held, shed, refusedConnections, refusedRequests } = status
    const costs = [
      held > 0 && `${counted(held, 'body', 'bodies')} waiting`,
      shed > 0 && `${counted(shed, 'request')} shed`,
      refusedConnections > 0 && `${counted(refusedConnections, 'connection')} refused`,
      refusedRequests > 0 && `${counted(refusedRequests, 'request')} over a client's limit`,
    ].filter((each) => typeof each === 'string')
    if (step === 0 && costs.length === 0) return []
    const now = step === 0 ? 'over' : `step ${step} of 3, ${doing}: ${why}`
    return [`overload  ${who}: ${[now, ...costs].join('; ')}`]
  })
}

/** The table of fronts, if there are several. */
function frontsText(fronts: ClusterState['fronts']): string[] {
  if (fronts.length < 2) return []
  const rows = fronts.map((front) => [
    front.id,
    front.state,
    `${front.pid}`,
    count(front.inHand),
    count(front.accepted),
    front.url ?? '',
  ])
  return ['', table(['front', 'state', 'pid', 'in progress', 'accepted', 'address'], rows, [0, 1, 5])]
}

/** Where all accepted jobs are: the parts add up. */
function jobsText(counters: ClusterState['counters'], open: Record<string, number>): string {
  const { accepted, results, errors, refused, unknown, cancelled, dropped, retries } = counters
  const some = (parts: Record<string, number>) =>
    Object.entries(parts).flatMap(([what, n]) => (n > 0 ? [`${count(n)} ${what}`] : []))
  const ended = some({ failed: errors, refused, 'of unknown outcome': unknown, cancelled, dropped })
  const inProgress = some(open)
  const parts = [
    `${count(results)} answered`,
    ...ended,
    ...(inProgress.length > 0 ? [`${count(total(open))} in progress (${inProgress.join(', ')})`] : []),
  ]
  const again = retries > 0 ? `; ${count(retries)} retried` : ''
  return `${counted(accepted, 'job')} accepted: ${parts.join(', ')}${again}`
}

function total(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, n) => sum + n, 0)
}

function cacheText({ hits, misses, shared, entries, bytes, mostBytes }: NonNullable<ClusterState['cache']>) {
  const mb = (n: number) => `${significant(n / 1024 / 1024)} MB`
  const kept = `${counted(hits, 'hit')}, ${count(misses)} misses; ${counted(entries, 'answer')}, ${mb(bytes)} of ${mb(mostBytes)}`
  return [...(mostBytes > 0 ? [kept] : []), `${count(shared)} shared a job`].join('; ')
}

/** `ticksAbove` becomes "ticks above". */
function words(name: string): string {
  return /^[a-z]/.test(name) ? name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : name
}

/** Figures of the preset's policies for each worker, and its CPU if that is polled. */
function figureNames(workers: ClusterState['workers']): string[] {
  const told = new Set(workers.flatMap(({ figures }) => Object.keys(figures)))
  return [...(workers.some(({ cpu }) => cpu !== null) ? ['cpu'] : []), ...told]
}

function figureText(value: Figures[string] | undefined): string {
  if (value === undefined || value === null) return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  return Number.isInteger(value) && value < 1000 ? `${value}` : significant(value)
}

function scalingText(scaling: Figures): string {
  return Object.entries(scaling)
    .map(([name, value]) => `${words(name)} ${figureText(value)}`)
    .join(' · ')
}

function percent(share: number | null): string {
  return share === null ? '–' : `${Math.round(share * 100)} %`
}

function some(ids: string[]): string {
  const shown = ids.slice(0, named).join(', ')
  return ids.length > named ? `${shown} and ${count(ids.length - named)} more` : shown
}

function count(n: number): string {
  return n.toLocaleString('en-US')
}
