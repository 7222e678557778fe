import type { Command } from 'commander';
import { addSystemOptions } from './system-flags.ts';

/** The flags of `tokenrail simulate`; deploy/simulate/options.ts reads and checks them. */
export function addSimulateOptions(command: Command): Command {
  return addSystemOptions(command)
    .option('--policy <NAME>', 'auto (default), eager, threshold, look-ahead, threshold-hold or take-turns')
    .option('--thresholds <B,…>', 'rows to wait for, per model')
    .option('--max-wait-ms <MS>', 'no row waits longer; default 250')
    .option('--hop-ms <MS>', 'time of a message on the network; default 0')
    .option('--replicas <N,…>', 'replicas per model; default one each')
    .option('--tokens <N>', 'tokens committed in all; default 200000')
    .option('--tokens-per-request <N>', 'length of an answer; default 256')
    .option('--prompt-tokens <N>', 'length of a prompt; default 16')
    .option(
      '--run-length <LAW>',
      "law of the home's runs: bernoulli (default), geometric, deterministic, bimodal, bursty, heavy-tailed, correlated=RHO",
    )
    .option('--shift-p <A,B,N>', 'the probability of a handoff changes between A and B every N tokens')
    .option('--drain <N,MIN,MAX>', 'instead of the closed loop: N requests with answers of MIN to MAX tokens')
    .option('--jitter <X>', 'relative standard deviation of the step times; default 0')
    .option('--seed <N>', 'decides everything that is drawn; default 1')
    .option('--timeline <FILE>', 'draw the first steps as SVG')
    .option('--json', 'machine-readable output');
}
