import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { descendants, eventually } from './processes.ts';

export interface CliExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface CliOptions {
  env?: Record<string, string>;
  input?: string;
  /** Program and leading arguments; default: node and the command line's bootstrap. */
  command?: readonly string[];
  cwd?: string;
}

export const root = resolve(import.meta.dirname, '../../..');
const BIN = resolve(root, 'deploy/cli/bin.mjs');

/** A PATH without any program: `serve` takes the embedded broker. */
export const emptyPath = resolve(import.meta.dirname);

/** The environment of this process without what would change the one under test. */
function cleanEnvironment(): Record<string, string> {
  const isOurs = (name: string): boolean =>
    /^(TOKENRAIL_|NO_COLOR|FORCE_COLOR|VITEST|NODE_ENV|npm_)/.test(name);
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || isOurs(name) ? [] : [[name, value]],
    ),
  );
}

const started = new Set<Cli>();

/** One run of the command line, its output collected. */
export class Cli {
  stdout = '';
  stderr = '';
  readonly exited: Promise<CliExit>;
  private readonly child: ChildProcess;
  private exit: CliExit | undefined;

  constructor(args: readonly string[], options: CliOptions = {}) {
    const [program = process.execPath, ...leading] = options.command ?? [process.execPath, BIN];
    this.child = spawn(program, [...leading, ...args], {
      cwd: options.cwd ?? root,
      env: { ...cleanEnvironment(), ...options.env },
      stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.child.stdin?.end(options.input);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    started.add(this);
    this.exited = new Promise((done) => {
      this.child.once('close', (code, signal) => {
        started.delete(this);
        this.exit = { code, signal };
        done(this.exit);
      });
    });
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Resolves with the first match in what was written; rejects if the process ends before. */
  find(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    return eventually(() => {
      const match = pattern.exec(this[stream]);
      if (match !== null) return match;
      if (this.exit === undefined) return undefined;
      throw new Error(
        `ended (${JSON.stringify(this.exit)}) without ${String(pattern)}:\n${this.stdout}\n${this.stderr}`,
      );
    });
  }
}

/** Runs a command line to its end. */
export async function runCli(
  args: readonly string[],
  options?: CliOptions,
): Promise<CliExit & { stdout: string; stderr: string }> {
  const cli = new Cli(args, options);
  const exit = await cli.exited;
  return { ...exit, stdout: cli.stdout, stderr: cli.stderr };
}

/** Starts `serve` on a free port and waits for its ready line. */
export async function startServer(
  args: readonly string[] = [],
  options?: CliOptions,
): Promise<{ cli: Cli; url: string }> {
  const cli = new Cli(['serve', '--port', '0', ...args], options);
  const match = await cli.find('stdout', /ready at (http\S+)[^]*Ctrl-C/);
  return { cli, url: match[1] ?? '' };
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** For `afterAll`: ends what a failed test left. */
export async function endAll(): Promise<void> {
  const rest = [...started];
  // What is below them as well: a shell of npm that is killed leaves its program behind, and the pipes open.
  const below = rest.flatMap((cli) => descendants(cli.pid));
  for (const cli of rest) cli.kill('SIGKILL');
  for (const { pid } of below) killQuietly(pid);
  await Promise.all(rest.map((cli) => cli.exited));
}
