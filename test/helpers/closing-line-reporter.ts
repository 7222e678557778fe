import type { Reporter, TestModule } from 'vitest/node';

/** Prints one plain line at the end, so that logs can be searched without knowing the runner. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    let brokenModules = 0;
    for (const module of modules) {
      if (module.errors().length > 0) brokenModules += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const failed = count.failed + count.pending + brokenModules;
    process.stdout.write(`${count.passed} passed, ${failed} failed, ${count.skipped} skipped\n`);
  }
}
