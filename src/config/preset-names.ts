/** The names of presets, without the policies themselves, because workers load the options too. */

export const presetNames = [
  ...(['plimsoll', 'classic'] as const),
  ...(['nginx', 'haproxy-leastconn', 'envoy-p2c', 'knative', 'prequal'] as const),
  ...(['tiered', 'cloudprime', 'cnv', 'hillclimbing', 'ecowork'] as const),
] as const
