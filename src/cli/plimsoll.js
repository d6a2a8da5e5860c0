#!/usr/bin/env node
/**
 * Checks the version of Node, then starts the command line. This file must parse on old versions of Node, so it uses no
 * static imports.
 */

const [major, minor] = process.versions.node.split('.')

if (Number(major) < 24) {
  console.error(`Plimsoll needs Node 24 or newer; this is ${major}.${minor}`)
  process.exitCode = 1
} else {
  import('./start.js')
}
