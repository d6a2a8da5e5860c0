/**
 * Load shedding: while the process that accepted a job is short of resources, first the most expensive jobs of clients at
 * or above their share of the work are rejected, then all of theirs, and only then expensive jobs of other clients.
 */

import type { Concern } from '../core.ts'

/** A client at this part of the mean is at its share: a single client always is. */
const atShare = 0.95

export const shedding: Concern = {
  name: 'shedding',
  arrives({ recentWork, shares, now }, { client, job: { work } }, pressure) {
    recentWork.note(work)
    if (pressure === 0) return undefined
    const { ofMean, percent, clients } = shares.standing(client, now)
    const part = partShed(pressure, ofMean >= atShare)
    if (!recentWork.isAbove(work, 1 - part)) return undefined
    const pressurePercent = Math.round(pressure * 100)
    const shedPercent = Math.round(part * 100)
    return { refused: { code: 'overloaded', pressurePercent, shedPercent, work, client, percent, clients } }
  },
}

/** The part of the jobs, the most expensive ones, that is shed. */
function partShed(pressure: number, isAtShare: boolean): number {
  return Math.min(1, Math.max(0, isAtShare ? 2 * pressure : 2 * pressure - 1))
}
