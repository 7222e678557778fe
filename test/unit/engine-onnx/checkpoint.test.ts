import {
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { Checkpoint } from '../../../engine/onnx/checkpoint/checkpoint.ts';
import { EMBEDDING, expectedTensors, HEAD } from '../../../engine/onnx/checkpoint/expected-tensors.ts';
import { readModelConfig } from '../../../engine/onnx/checkpoint/read-config.ts';
import {
  copyOf,
  editJson,
  editTensors,
  editValues,
  readTensors,
  scratchDir,
  writeTensors,
} from './helpers/checkpoints.ts';

const open = (directory: string): Checkpoint => Checkpoint.open(directory, readModelConfig(directory));

/** Opens and reads everything; the error that ends it. */
function refusal(directory: string): TokenrailError {
  try {
    readAll(directory);
  } catch (error) {
    if (error instanceof TokenrailError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

function readAll(directory: string): Map<string, Float32Array> {
  const checkpoint = open(directory);
  try {
    const shapes = expectedTensors(readModelConfig(directory));
    return new Map([...shapes].map(([name, shape]) => [name, checkpoint.read(name, shape)]));
  } finally {
    checkpoint.close();
  }
}

describe('damaged files are refused with their name and sizes', () => {
  const weights = 'model.safetensors';

  it('missing', () => {
    const directory = copyOf('llama');
    rmSync(join(directory, weights));
    const error = refusal(directory);
    expect(error.code).toBe('checkpoint_invalid');
    expect(error.message).toContain(join(directory, weights));
    expect(error.message).toContain('config.json'); // what is there instead
  });

  it.each([1, 1000, 100_000])('short by %i bytes', (bytes) => {
    const directory = copyOf('llama');
    const path = join(directory, weights);
    const size = statSync(path).size;
    truncateSync(path, size - bytes);
    const { code, message } = refusal(directory);
    expect(code).toBe('checkpoint_invalid');
    expect(message).toContain(path);
    expect(message).toContain(String(size));
    expect(message).toContain(String(size - bytes));
  });

  it('longer than its header says', () => {
    const directory = copyOf('llama');
    const path = join(directory, weights);
    const size = statSync(path).size;
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(3)]));
    expect(refusal(directory).message).toMatch(new RegExp(`${size + 3} bytes.*${size}`));
  });

  it.each([
    ['empty', 0],
    ['a few bytes', 5],
    ['cut within the header', 300],
  ])('%s', (_, size) => {
    const directory = copyOf('llama');
    const path = join(directory, weights);
    truncateSync(path, size);
    expect(refusal(directory).message).toContain(`${path} has ${size} bytes`);
  });

  it('all zeros', () => {
    const directory = copyOf('llama');
    const path = join(directory, weights);
    writeFileSync(path, Buffer.alloc(statSync(path).size));
    expect(refusal(directory).message).toContain('not a safetensors file');
  });

  it('a header with zeros behind it', () => {
    const directory = copyOf('llama');
    editValues(directory, 'model.layers.1.mlp.up_proj.weight', (values) => values.fill(0));
    const { message } = refusal(directory);
    expect(message).toContain('model.layers.1.mlp.up_proj.weight');
    expect(message).toContain(join(directory, weights));
  });

  it('a Git LFS pointer', () => {
    const directory = copyOf('llama');
    writeFileSync(
      join(directory, weights),
      'version https://git-lfs.github.com/spec/v1\noid sha256:1f\nsize 146736\n',
    );
    expect(refusal(directory).message).toContain('Git LFS pointer');
  });

  it('another model’s weights', () => {
    const directory = copyOf('llama');
    writeFileSync(join(directory, weights), readFileSync(join(copyOf('llama-tied'), weights)));
    const { message } = refusal(directory);
    expect(message).toContain(directory);
    expect(message).toMatch(/lm_head|shape|lacks/);
  });

  it('the right names with another shape', () => {
    const directory = copyOf('llama');
    editJson(join(directory, 'config.json'), { intermediate_size: 96 });
    const { message } = refusal(directory);
    expect(message).toContain('[48, 80]');
    expect(message).toContain('[48, 96]');
  });

  it('tensors that this kind of model does not have', () => {
    const directory = copyOf('llama');
    editTensors(directory, (tensors) =>
      tensors.set('model.layers.0.self_attn.q_proj.bias', {
        dtype: 'F32',
        shape: [64],
        bytes: new Uint8Array(256),
      }),
    );
    expect(refusal(directory).message).toContain('self_attn.q_proj.bias');
  });

  it('a type that cannot be read', () => {
    const directory = copyOf('llama');
    const path = join(directory, weights);
    const text = readFileSync(path).toString('latin1').replace('"dtype":"F16"', '"dtype":"I16"');
    writeFileSync(path, Buffer.from(text, 'latin1'));
    expect(refusal(directory).message).toContain('I16');
  });

  it('a malformed header', () => {
    const directory = copyOf('llama');
    const path = join(directory, weights);
    const text = readFileSync(path).toString('latin1').replace('"data_offsets"', '"data_offsetz"');
    writeFileSync(path, Buffer.from(text, 'latin1'));
    expect(refusal(directory).message).toContain('malformed');
  });
});

describe('sharded checkpoints', () => {
  const shard = (i: number): string => `model-0000${i}-of-00004.safetensors`;

  it('give the same tensors as one file', () => {
    const sharded = copyOf('qwen2');
    const single = copyOf('qwen2');
    const all = new Map([1, 2, 3, 4].flatMap((i) => [...readTensors(join(single, shard(i)))]));
    writeTensors(join(single, 'model.safetensors'), all);
    rmSync(join(single, 'model.safetensors.index.json'));
    expect(readAll(sharded)).toEqual(readAll(single));
  });

  it('name a missing shard', () => {
    const directory = copyOf('qwen2');
    rmSync(join(directory, shard(3)));
    expect(refusal(directory).message).toContain(join(directory, shard(3)));
  });

  it('name the file of two that were swapped', () => {
    const directory = copyOf('qwen2');
    renameSync(join(directory, shard(1)), join(directory, 'aside'));
    renameSync(join(directory, shard(2)), join(directory, shard(1)));
    renameSync(join(directory, 'aside'), join(directory, shard(2)));
    expect(refusal(directory).message).toMatch(/model-0000\d-of-00004\.safetensors does not hold tensor/);
  });

  it('never reach outside their directory', () => {
    const directory = copyOf('qwen2');
    const path = join(directory, 'model.safetensors.index.json');
    const index = JSON.parse(readFileSync(path, 'utf8')) as { weight_map: Record<string, string> };
    editJson(path, { weight_map: { ...index.weight_map, [EMBEDDING]: '../other.safetensors' } });
    expect(refusal(directory).message).toContain('plain file name');
  });

  it('name tensors that no shard is said to hold', () => {
    const directory = copyOf('qwen2');
    const path = join(directory, 'model.safetensors.index.json');
    const index = JSON.parse(readFileSync(path, 'utf8')) as { weight_map: Record<string, string> };
    const { [EMBEDDING]: _, ...rest } = index.weight_map;
    editJson(path, { weight_map: rest });
    expect(refusal(directory).message).toContain(EMBEDDING);
  });
});

describe('the output head', () => {
  it('is the embedding where the checkpoint ties them', () => {
    const checkpoint = open(copyOf('llama-tied'));
    expect(checkpoint.hasOwnHead).toBe(false);
    checkpoint.close();
  });

  it('declared tied and stored nevertheless: a tie if equal, a head of its own if not', () => {
    const directory = copyOf('llama-tied');
    editTensors(directory, (tensors) => {
      const embedding = tensors.get(EMBEDDING);
      if (embedding !== undefined) tensors.set(HEAD, { ...embedding, bytes: embedding.bytes.slice() });
    });
    const equal = open(directory);
    expect(equal.hasOwnHead).toBe(false);
    equal.close();
    editValues(directory, HEAD, (values) => (values[0] = 42));
    const different = open(directory);
    expect(different.hasOwnHead).toBe(true);
    expect(different.read(HEAD, [128, 32])[0]).toBe(42);
    different.close();
  });

  it('is missed where it is not tied', () => {
    const directory = copyOf('llama');
    editTensors(directory, (tensors) => tensors.delete(HEAD));
    expect(refusal(directory).message).toContain(HEAD);
  });
});

describe('paths', () => {
  it.each(['with space', '模型 目录'])('may hold any characters: "%s"', (name) => {
    const directory = join(scratchDir(), name);
    copyOf('llama', directory);
    expect(readAll(directory).size).toBeGreaterThan(0);
  });

  it('may be symbolic links, of the directory or of its files', () => {
    const target = copyOf('llama');
    const base = scratchDir();
    symlinkSync(target, join(base, 'link'));
    expect(readAll(join(base, 'link')).size).toBeGreaterThan(0);
    const files = copyOf('llama');
    rmSync(join(files, 'model.safetensors'));
    symlinkSync(join(target, 'model.safetensors'), join(files, 'model.safetensors'));
    expect(readAll(files).size).toBeGreaterThan(0);
  });
});
