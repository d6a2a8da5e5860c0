/** Whether and how jobs are metered. */
import type { Formula } from '../meter/metrics.ts'
import type { MeterMode } from '../meter/rewrite.ts'

export type MeterSetting = { mode: MeterMode; formula: Formula } | 'off'
