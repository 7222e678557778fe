import type { Command } from 'commander';
import { brokerCheck } from '../../doctor/broker-check.ts';
import { runChecks } from '../../doctor/check.ts';
import type { CheckResult } from '../../doctor/check.ts';
import { machineCheck, nodeCheck, portCheck, temporaryFolderCheck } from '../../doctor/machine-checks.ts';
import { checkpointCheck, engineCheck, routerCheck, vocabularyCheck } from '../../doctor/model-checks.ts';
import { configOf } from '../config-options.ts';

function resultLines({ name, status, detail, fix }: CheckResult): string {
  const line = `${status.padEnd(4)} ${name}: ${detail}\n`;
  return fix === undefined ? line : `${line}       mend it: ${fix}\n`;
}

function verdict(results: readonly CheckResult[]): string {
  const has = (wanted: CheckResult['status']): boolean => results.some(({ status }) => status === wanted);
  if (has('FAIL')) return 'Something is wrong; see above.';
  return has('warn') ? 'It works; see the warnings above.' : 'All is well.';
}

/** `tokenrail doctor`: exit code 1 if anything fails. */
export async function doctor(command: Command): Promise<void> {
  const resolved = configOf(command);
  const isJson = command.opts<{ json?: boolean }>().json === true;
  const checks = [
    nodeCheck,
    machineCheck,
    temporaryFolderCheck,
    brokerCheck,
    portCheck,
    ...resolved.models.map(checkpointCheck),
    vocabularyCheck,
    routerCheck,
    engineCheck,
  ];
  const results = await runChecks(checks, resolved, (result) => {
    if (!isJson) process.stdout.write(resultLines(result));
  });
  const hasFailed = results.some(({ status }) => status === 'FAIL');
  if (isJson) process.stdout.write(`${JSON.stringify({ ok: !hasFailed, checks: results }, null, 2)}\n`);
  else process.stdout.write(`${verdict(results)}\n`);
  if (hasFailed) process.exitCode = 1;
}
