#!/usr/bin/env node
import { importModule } from '../import-module.mjs';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  process.stderr.write(`tokenrail needs Node.js 20 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
const { main } = await importModule('./main', import.meta.url);
process.exitCode = await main(process.argv.slice(2));
