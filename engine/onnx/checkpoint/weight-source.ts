/** Where weights come from: a checkpoint's files or a random generator. */
export interface WeightSource {
  /**
   * A tensor by its Hugging Face name, as float32 in row-major order.
   * @throws TokenrailError `checkpoint_invalid`
   */
  read(name: string, shape: readonly number[]): Float32Array;
  /** Whether the output head is a tensor of its own rather than the embedding. */
  readonly hasOwnHead: boolean;
  close(): void;
}
