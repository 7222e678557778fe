/**
 * Which forward passes an answer took. A model that is asked for a token makes one step; it reads everything it has not
 * read yet in that step, and its KV keeps what it has read.
 *
 * - `kept`: a step per token, by its writer;
 * - `single-tokens`: each visit of the guest begins with a step of the home whose token is discarded, and has one token;
 * - `spans`: as before, but a visit has any number of tokens.
 */
export type PassRule = 'kept' | 'single-tokens' | 'spans';

/** What the accounting needs to know of an answer. */
export interface AnswerShape {
  promptTokens: number;
  /** Model of each token. */
  writers: readonly string[];
  /** Each way counts. */
  handoffs: number;
}

/** Of one model in one answer, in tokens. */
export interface Passes {
  /** Tokens it wrote. */
  written: number;
  /** Steps it made, with those whose token was discarded. */
  steps: number;
  /** Tokens it read, the prompt and what others wrote included. */
  read: number;
}

/**
 * Passes by model. Steps are exact unless a handoff was refused. So is what was read unless KV was given up on the way;
 * with `spans` the home may have been asked again inside the guest's last run, whose tokens it is not counted to have read.
 */
export function passesOf(shape: AnswerShape, home: string, rule: PassRule): Map<string, Passes> {
  const { promptTokens, writers, handoffs } = shape;
  const passes = new Map<string, Passes>();
  const of = (model: string): Passes => {
    const known = passes.get(model) ?? { written: 0, steps: 0, read: 0 };
    passes.set(model, known);
    return known;
  };
  writers.forEach((model, index) => {
    const own = of(model);
    own.written += 1;
    own.steps += 1;
    own.read = promptTokens + index;
  });
  if (rule === 'kept' || handoffs === 0) return passes;
  const own = of(home);
  own.steps += Math.ceil(handoffs / 2);
  own.read = Math.max(own.read, promptTokens + lastStepOf(home, writers, rule));
  return passes;
}

/** Index of the token that the home was last asked for. */
function lastStepOf(home: string, writers: readonly string[], rule: PassRule): number {
  if (rule === 'single-tokens') return writers.length - 1;
  return Math.min(writers.lastIndexOf(home) + 1, writers.length - 1);
}

/** Parameters at work per token of the answers, in three ways of counting. */
export interface ActivatedParameters {
  /** Of the model that wrote the token. */
  byWriter: number;
  /** Of every step, discarded ones and the router's network included. */
  bySteps: number;
  /** Of every token read by a model, prompts and catching up included, and of the router's network. */
  byRead: number;
}

/**
 * Σ parameters × tokens, over the tokens of all answers. Tied embeddings count once.
 * @param headParameters of the router's network, which sees each step of the home; 0 = none
 */
export function activatedParameters(
  answers: readonly (AnswerShape & { passes: ReadonlyMap<string, Passes> })[],
  parameters: ReadonlyMap<string, number>,
  home: string,
  headParameters: number,
): ActivatedParameters {
  const sum = { byWriter: 0, bySteps: 0, byRead: 0 };
  let tokens = 0;
  for (const { writers, passes } of answers) {
    tokens += writers.length;
    for (const [model, { written, steps, read }] of passes) {
      const size = parameters.get(model);
      if (size === undefined) throw new Error(`nobody knows how large the model ${model} is`);
      const head = model === home ? headParameters * steps : 0;
      sum.byWriter += size * written;
      sum.bySteps += size * steps + head;
      sum.byRead += size * read + head;
    }
  }
  const total = Math.max(1, tokens);
  return { byWriter: sum.byWriter / total, bySteps: sum.bySteps / total, byRead: sum.byRead / total };
}
