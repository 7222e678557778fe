import type { Command } from 'commander';

/** The flags that describe a system of models to `tune` and `simulate`; read with `parseSystem`. */
export function addSystemOptions(command: Command): Command {
  return command
    .option('--step-ms <a,b…>', 'step time of each model, in milliseconds')
    .option(
      '--p <x>',
      'probability that the small model asks the large one; with three models p1,p2,q: to the second, to the third, and from the second on to the third',
    )
    .option('--routing <file>', 'JSON file {"P": …, "C": …} in place of --p: routing and tokens committed')
    .option('--concurrency <n>', 'requests alive; a finished one is replaced at once', '8')
    .option(
      '--overlap-factor <x>',
      'speed of each model while at least two run; 1 = devices of their own',
      '1',
    );
}
