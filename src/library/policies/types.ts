/** The types that a policy of one's own needs. */

export type {
  FinishedJob,
  FleetView,
  Present,
  ScaleDecision,
  ScaleSteps,
  WorkerFigures,
} from '../../brain/scale/scaler.ts'
export type { FleetFacts } from '../../brain/schedule/scheduler.ts'
export type { Measurement, Question } from '../../estimate/estimator.ts'
export type { QuoteDocument } from '../../estimate/quote.ts'
export type { Random } from '../../lib/random.ts'
export type { DisciplineName } from '../../model/discipline.ts'
export type { Job } from '../../model/job.ts'
export type { Reason } from '../../model/reason.ts'
export type { Figures } from '../../model/view.ts'
export type { SchedulerName } from '../../systems/schedulers.ts'
export type { Estimator, EstimatorFactory, OwnEstimate } from './own-estimator.ts'
export type { Scaler, ScalerBounds, ScalerFactory } from './own-scaler.ts'
export type {
  HeldJob,
  ScheduledJob,
  ScheduledWorker,
  Scheduler,
  SchedulerFactory,
  SchedulerParts,
  Verdict,
} from './scheduler.ts'
