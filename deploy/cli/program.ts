import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../config/package-root.ts';
import { addConfigOptions } from './config-options.ts';
import { addSimulateOptions } from './simulate-options.ts';
import { addSystemOptions } from './system-flags.ts';

const version = (): string =>
  (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;

type Action = (command: Command) => Promise<void>;

/** Code of a command is loaded when it runs, so that help stays quick. */
function addCommand(program: Command, name: string, summary: string, action: Action): Command {
  const command = program.command(name).description(summary);
  return command.action(async (..._args: unknown[]) => action(command));
}

function addServerCommands(program: Command): void {
  const serve = addCommand(
    program,
    'serve',
    'broker, gateway and one subserver per model, from one command',
    async (command) => (await import('./commands/serve.ts')).serve(command),
  );
  serve.option('--inline', 'everything in this process, for debugging');
  const gateway = addCommand(
    program,
    'gateway',
    'the gateway alone, over a broker given with --nats',
    async (command) => (await import('./commands/gateway.ts')).gateway(command),
  );
  const subserver = addCommand(
    program,
    'subserver',
    'one replica of one model, over a broker given with --nats',
    async (command) => (await import('./commands/subserver.ts')).subserver(command),
  );
  subserver.requiredOption('--model <name>', 'which of the configured models');
  subserver.option(
    '--replica <name>',
    'name of this replica, unique among those of the model (default: a fresh one)',
  );
  for (const command of [serve, gateway, subserver]) addConfigOptions(command);
}

function addClientCommands(program: Command): void {
  const chat = addCommand(program, 'chat', 'talks to a running server in the terminal', async (command) =>
    (await import('./commands/chat.ts')).chat(command),
  );
  chat
    .argument(
      '[prompt...]',
      'one question; without it, questions are read from the terminal or standard input',
    )
    .option('--url <url>', 'base URL of the server', 'http://127.0.0.1:8000')
    .option('--api-key <key>', 'key for the server (default: TOKENRAIL_API_KEY)')
    .option('--router <id>', 'router to ask for')
    .option('--history', 'send the conversation so far with each question')
    .option('--max-tokens <n>', 'longest answer')
    .option('--temperature <x>', 'randomness; 0 = greedy');
  const demo = addCommand(
    program,
    'demo',
    'starts everything, solves a handful of problems, shows who wrote what',
    async (command) => (await import('./commands/demo.ts')).demo(command),
  );
  demo.option('--num-problems <n>', 'problems sent at once', '6');
  addConfigOptions(demo);
}

function addToolCommands(program: Command): void {
  const doctor = addCommand(
    program,
    'doctor',
    'checks this machine and says what is wrong and how to mend it',
    async (command) => (await import('./commands/doctor.ts')).doctor(command),
  );
  const models = addCommand(program, 'models', 'lists the configured models', async (command) =>
    (await import('./commands/models.ts')).models(command),
  );
  for (const command of [doctor, models])
    addConfigOptions(command.option('--json', 'machine-readable output'));
  const bench = addCommand(program, 'bench', 'measurements; "bench --help" lists them', async (command) =>
    (await import('./commands/bench.ts')).bench(command),
  );
  // Each benchmark reads its own flags.
  bench.argument('[name...]').allowUnknownOption().helpOption(false);
}

function addTuneCommand(program: Command): void {
  const tune = addCommand(
    program,
    'tune',
    'predicts the best thresholds and the throughput of a system of models',
    async (command) => (await import('./commands/tune.ts')).tune(command),
  );
  addSystemOptions(tune)
    .option('--quantum-ms <ms>', 'grid of time of the prediction', '0.1')
    .option('--json', 'machine-readable output');
}

function addSimulateCommand(program: Command): void {
  const simulate = addCommand(
    program,
    'simulate',
    'runs the real actors in virtual time over simulated engines: what a policy gives',
    async (command) => (await import('./commands/simulate.ts')).simulate(command),
  );
  addSimulateOptions(simulate);
}

function addRecordingCommands(program: Command): void {
  const record = addCommand(
    program,
    'record',
    'keeps what a deployment with "record: on" saw and decided, in a file',
    async (command) => (await import('./commands/record.ts')).record(command),
  );
  record
    .option('--out <file>', 'file to write; must not exist')
    .option('--requests <n>', 'end when this many requests have begun and ended, or been silent for a minute')
    .option('--seconds <s>', 'end after this time');
  addConfigOptions(record);
  const replay = addCommand(
    program,
    'replay',
    'says what another router or threshold would have sent where, on recorded steps, without a model',
    async (command) => (await import('./commands/replay.ts')).replay(command),
  );
  const collect = (text: string, before: string[]): string[] => [...before, text];
  replay
    .requiredOption('--in <file>', 'a recording')
    .option('--router <router>', 'router of the recorded deployment, built-in router or path of a module')
    .option('--option <name=value>', 'option of the router; may be repeated', collect, [])
    .option('--head <file>', 'option "head": the file of a trained network')
    .option('--threshold <x,y…>', 'option "threshold", one or several to compare')
    .option('--models <name=dir,…>', 'checkpoints, where they lie elsewhere than when recorded')
    .option('--json', 'machine-readable output');
}

/** The command line. Unknown commands and flags are refused with the nearest known name. */
export function createProgram(): Command {
  const program = new Command('tokenrail')
    .description('Token-level LLM routing: several models write one answer together.')
    .version(version(), '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(`tokenrail: config_invalid: ${text.replace(/^error: /, '')}`),
    });
  addServerCommands(program);
  addClientCommands(program);
  addToolCommands(program);
  addRecordingCommands(program);
  addTuneCommand(program);
  addSimulateCommand(program);
  return program;
}
