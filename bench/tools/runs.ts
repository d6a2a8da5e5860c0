/** Runs the nine searches under each tool, in turn, so that a busy machine slows all tools alike. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { MeterMode } from '../../src/model/metering.ts'
import type { Formula } from '../../src/model/metrics.ts'
import { median } from '../../src/simulate/summary.ts'
import type { SearchResult, ToolSetup } from './child.ts'
import { landscape, searches } from './document.ts'

export interface Tool {
  mode: MeterMode
  formula: Formula
}

/** Of one search under one tool. */
export interface ToolFigures extends SearchResult {
  /** CPU time ÷ that without a tool right before or after, median. */
  overhead: number
}

export interface SearchFigures {
  /** Without a tool, the fastest. */
  plainMs: number
  visited: number
  byTool: Record<string, ToolFigures>
}

/** Throws if two runs of a search count differently. */
export async function runSearches(
  tools: Readonly<Record<string, Tool>>,
  rounds: number,
): Promise<SearchFigures[]> {
  const names = Object.keys(tools)
  const children = await Promise.all([startChild(), ...names.map((name) => startChild(tools[name]))])
  const results = searches.map(() => children.map((): SearchResult[] => []))
  try {
    // The first round compiles the code.
    for (let round = -1; round < rounds; round++) {
      for (const [i, { strategy, side }] of searches.entries()) {
        for (const [at] of children.entries()) {
          // Each round begins with another tool.
          const which = (at + round + 1) % children.length
          const result = await ask(children[which]!, { strategy, side })
          if (round >= 0) results[i]![which]!.push(result)
        }
      }
    }
  } finally {
    await Promise.all(children.map(end))
  }
  return results.map(([plain, ...others]) => ({
    plainMs: Math.min(...plain!.map(({ cpuMs }) => cpuMs)),
    visited: plain![0]!.visited,
    byTool: Object.fromEntries(names.map((name, i) => [name, figuresOf(plain!, others[i]!)])),
  }))
}

/** Of a search in each round, without a tool and under one. */
export function figuresOf(plain: readonly SearchResult[], runs: readonly SearchResult[]): ToolFigures {
  const [first] = runs
  if (runs.some(({ work, visited }) => work !== first!.work || visited !== plain[0]!.visited))
    throw new Error('a search was counted differently in two runs')
  const overhead = median(runs.map(({ cpuMs }, round) => cpuMs / plain[round]!.cpuMs))
  return { ...first!, cpuMs: median(runs.map(({ cpuMs }) => cpuMs)), overhead }
}

async function startChild(meter?: Tool): Promise<ChildProcess> {
  const setup: ToolSetup = { ...landscape, ...(meter && { meter }) }
  const child = fork(fileURLToPath(new URL('./child.ts', import.meta.url)), [JSON.stringify(setup)])
  await once(child, 'message')
  return child
}

async function ask(child: ChildProcess, search: object): Promise<SearchResult> {
  const over = new AbortController()
  const { signal } = over
  child.send(search)
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`a search ended with exit code ${code}`)
    })
    const [result] = await Promise.race([once(child, 'message', { signal }), ended])
    return result as SearchResult
  } finally {
    over.abort()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.disconnect()
  await once(child, 'exit')
}
