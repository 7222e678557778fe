import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SafetensorsFile, type StoredDtype } from '../../../../engine/onnx/checkpoint/safetensors-file.ts';
import { toFloat32 } from '../../../../engine/onnx/checkpoint/to-float32.ts';
import { GOLDEN_DIR } from './golden.ts';

export interface RawTensorData {
  dtype: StoredDtype;
  shape: readonly number[];
  bytes: Uint8Array;
}

/** A directory that vanishes after the test. */
export function scratchDir(name = 'tokenrail-test-'): string {
  const directory = mkdtempSync(join(tmpdir(), name));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A copy of a tiny checkpoint, to be damaged. */
export function copyOf(name: string, directory = scratchDir()): string {
  cpSync(join(GOLDEN_DIR, name), directory, { recursive: true });
  return directory;
}

export function readTensors(path: string): Map<string, RawTensorData> {
  const file = SafetensorsFile.open(path);
  const tensors = new Map<string, RawTensorData>();
  for (const [name, entry] of file.entries) {
    tensors.set(name, { dtype: entry.dtype, shape: entry.shape, bytes: file.readBytes(entry) });
  }
  file.close();
  return tensors;
}

export function writeTensors(path: string, tensors: ReadonlyMap<string, RawTensorData>): void {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  let at = 0;
  for (const [name, { dtype, shape, bytes }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.byteLength] };
    at += bytes.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(json.byteLength));
  writeFileSync(path, Buffer.concat([prefix, json, ...[...tensors.values()].map(({ bytes }) => bytes)]));
}

/** Changes the tensors of a single-file checkpoint. */
export function editTensors(directory: string, edit: (tensors: Map<string, RawTensorData>) => void): void {
  const path = join(directory, 'model.safetensors');
  const tensors = readTensors(path);
  edit(tensors);
  writeTensors(path, tensors);
}

/** Changes values of one tensor, which is stored as float32 afterwards. */
export function editValues(directory: string, name: string, edit: (values: Float32Array) => void): void {
  editTensors(directory, (tensors) => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new Error(`no tensor ${name}`);
    tensors.set(name, asFloat32(tensor, edit));
  });
}

export function asFloat32(
  tensor: RawTensorData,
  edit: (values: Float32Array) => void = () => {},
): RawTensorData {
  const values = toFloat32(tensor.bytes, tensor.dtype).slice();
  edit(values);
  return { dtype: 'F32', shape: tensor.shape, bytes: new Uint8Array(values.buffer) };
}

/** Changes keys of a JSON file; undefined removes one. */
export function editJson(path: string, changes: Record<string, unknown>): void {
  const json = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...json, ...changes }));
}
