import { servedModel, streamChat } from '../client/chat-client.ts';
import type { ChatServer, ChatUsage, Token } from '../client/chat-client.ts';
import { Palette } from '../client/palette.ts';
import { answerOf, demoProblems } from './problems.ts';
import type { Problem } from './problems.ts';

export interface DemoOptions {
  server: ChatServer;
  /** The model that owns the requests; all others count as large. */
  home: string;
  models: readonly string[];
  randomWeights: boolean;
  count: number;
  isColoured: boolean;
  write: (text: string) => void;
}

interface Answer {
  problem: Problem;
  tokens: readonly Token[];
  usage: ChatUsage | undefined;
}

async function solve(server: ChatServer, model: string, problem: Problem): Promise<Answer> {
  const tokens: Token[] = [];
  const messages = [{ role: 'user' as const, content: problem.question }];
  const usage = await streamChat(server, { model, messages }, (more) => tokens.push(...more));
  return { problem, tokens, usage };
}

/** Neighbouring tokens of one model, joined: fewer marks to read. */
function spansOf(tokens: readonly Token[]): Token[] {
  const spans: Token[] = [];
  for (const { model, text } of tokens) {
    const last = spans.at(-1);
    if (last?.model === model) last.text += text;
    else if (text !== '') spans.push({ model, text });
  }
  return spans;
}

/** Marks who wrote what: by colour, and without colours by brackets around what other models than the home wrote. */
function paintAnswer(tokens: readonly Token[], palette: Palette, options: DemoOptions): string {
  const paint = ({ model, text }: Token): string => {
    if (options.isColoured) return palette.paint(model, text);
    return model === options.home ? text : `[${text}]`;
  };
  return spansOf(tokens).map(paint).join('');
}

function legend(palette: Palette, options: DemoOptions): string {
  const names = options.models.map((model) => palette.paint(model, model));
  return options.isColoured
    ? `written by: ${names.join('  ')}`
    : `written by: ${options.home}, [in brackets] by another model`;
}

function verdict({ problem, tokens }: Answer): string {
  const found = answerOf(tokens.map(({ text }) => text).join(''));
  return found === problem.answer ? `right: ${problem.answer}` : `wrong: expected ${problem.answer}`;
}

/** Sends the problems at once and prints each answer with its tokens marked, then the totals. */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { server, write, models } = options;
  const palette = new Palette(options.isColoured, models);
  const model = await servedModel(server);
  const problems = demoProblems(options.count);
  if (options.randomWeights) write('RANDOM WEIGHTS: the answers are noise.\n');
  write(`${problems.length} problems at once; ${legend(palette, options)}\n\n`);
  const startedMs = performance.now();
  const answers = await Promise.all(problems.map((problem) => solve(server, model, problem)));
  const seconds = (performance.now() - startedMs) / 1000;
  for (const answer of answers) {
    write(
      `${palette.dim(answer.problem.question)}\n${paintAnswer(answer.tokens, palette, options)}\n(${verdict(answer)})\n\n`,
    );
  }
  write(`${legend(palette, options)}\n${totals(answers, seconds, options)}\n`);
}

function totals(answers: readonly Answer[], seconds: number, { home }: DemoOptions): string {
  let all = 0;
  let others = 0;
  let handoffs = 0;
  for (const { usage } of answers) {
    if (usage === undefined) continue;
    all += usage.completionTokens;
    others += usage.completionTokens - (usage.tokensByModel[home] ?? 0);
    handoffs += usage.handoffs;
  }
  const share = all === 0 ? 0 : (100 * others) / all;
  const numRight = answers.filter((answer) => verdict(answer).startsWith('right')).length;
  return (
    `${all} tokens in ${seconds.toFixed(1)} s: ${Math.round(all / seconds)} tokens/s; ` +
    `${share.toFixed(1)} % of them by the large model, ${handoffs} handoffs; ${numRight} of ${answers.length} right`
  );
}
