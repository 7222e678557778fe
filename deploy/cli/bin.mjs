#!/usr/bin/env node
import { importModule } from '../import-module.mjs';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  process.stderr.write(`tokenrail needs Node.js 20 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}
// A reader that went away (`tokenrail chat | head -1`) is not worth a stack trace.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`tokenrail: standard output cannot be written (${error.code})\n`);
  process.exit(1);
});

const { main } = await importModule('./main', import.meta.url);
process.exitCode = await main(process.argv.slice(2));
