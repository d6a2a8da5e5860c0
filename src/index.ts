/** The public API of the package `plimsoll`. */

export {
  defineConfig,
  type OwnServer,
  type PlimsollConfig,
  type RouteConfig,
  type RouteRequest,
  type UpConfig,
} from './config/config.ts'
export * from './workload/workload.ts'
