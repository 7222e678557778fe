// `npm test`: every static check, then the whole suite. One command, one exit code, a short summary at the end.
import { spawn } from 'node:child_process';

const run = (name, command, args) =>
  new Promise((resolve) => {
    const startedMs = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: process.env });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('close', (code) => {
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`);
      if (code !== 0) process.stdout.write(Buffer.concat(output));
      resolve(code === 0);
    });
  });

const npm = (script) => run(script, 'npm', ['run', '--silent', script]);

// Two at a time: the machine this is sized for has two cores.
const first = await Promise.all([npm('check:format'), npm('check:lint')]);
const second = await Promise.all([npm('check:types'), npm('check:imports')]);
const suite = await new Promise((resolve) => {
  const child = spawn('npx', ['vitest', 'run', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: process.env,
  });
  child.on('close', (code) => resolve(code === 0));
});
const isGreen = [...first, ...second, suite].every(Boolean);
process.stdout.write(isGreen ? 'all checks passed\n' : 'some checks FAILED\n');
process.exitCode = isGreen ? 0 : 1;
