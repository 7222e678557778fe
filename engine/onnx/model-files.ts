import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WeightsFile } from './weights/weights-file.ts';

/**
 * The weights file and the graphs over it, in a temporary directory of their own. Once the sessions have
 * mapped the weights the names can go, so that even a killed process leaves nothing behind; where the system
 * does not allow that (Windows), `close` removes them.
 */
export class ModelFiles {
  readonly weights: WeightsFile;
  private readonly directory: string;
  private isRemoved = false;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), 'tokenrail-engine-'));
    try {
      this.weights = new WeightsFile(join(this.directory, 'weights.bin'));
    } catch (error) {
      this.removeNames();
      throw error;
    }
  }

  writeGraph(name: string, model: Uint8Array): string {
    const path = join(this.directory, `${name}.onnx`);
    writeFileSync(path, model);
    return path;
  }

  /** Best effort; `close` tries again. */
  removeNames(): void {
    if (this.isRemoved) return;
    try {
      rmSync(this.directory, { recursive: true, force: true });
      this.isRemoved = true;
    } catch {
      this.isRemoved = false;
    }
  }

  close(): void {
    this.weights.close();
    this.removeNames();
  }
}
