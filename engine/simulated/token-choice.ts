import { TokenrailError } from '../../core/errors.ts';

/** Which token a model writes after a sequence: a function of the sequence's hash and the model, and of nothing else. */
export class TokenChoice {
  private readonly modelSalt: number;
  private readonly numChoices: number;
  /** Ids that are never written, ascending. */
  private readonly excluded: readonly number[];

  /**
   * @param modelId 1..M
   * @param vocabSize ids 0 … vocabSize − 1
   * @param excluded never written: ids that would end the answer
   * @throws TokenrailError `config_invalid` where no id is left
   */
  constructor(modelId: number, vocabSize: number, excluded: readonly number[]) {
    this.modelSalt = Math.imul(modelId, 0x9e3779b9);
    this.excluded = [...new Set(excluded)].filter((id) => id < vocabSize).sort((a, b) => a - b);
    this.numChoices = vocabSize - this.excluded.length;
    if (this.numChoices < 1) {
      throw new TokenrailError('config_invalid', 'simulated engine: no token is left to be written', {
        param: 'vocabSize',
      });
    }
  }

  tokenAfter(hash: number): number {
    let mixed = hash ^ this.modelSalt; // the finalizer of MurmurHash3
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    mixed = (mixed ^ (mixed >>> 16)) >>> 0;
    let token = mixed % this.numChoices;
    for (const id of this.excluded) {
      if (id > token) break;
      token += 1;
    }
    return token;
  }
}
