import type { ChatMessage } from '../generation-request.ts';
import { invalid, unsupported } from './schema-issue.ts';

const ROLES: readonly ChatMessage['role'][] = ['system', 'developer', 'user', 'assistant', 'tool'];

/** OpenAI's own bound; rendering ten thousand messages would hold the event loop for 100 ms. */
const MAX_MESSAGES = 2_048;

/** Members that clients send back with an assistant's message; only the values that say nothing are accepted. */
const EMPTY_MEMBERS = new Set([
  'refusal',
  'annotations',
  'audio',
  'function_call',
  'tool_calls',
  'reasoning_content',
  'reasoning',
]);

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The messages of a chat. Text parts are joined without anything in between.
 * @throws TokenrailError `invalid_request` or `unsupported_parameter` naming the place
 */
export function readMessages(value: unknown): ChatMessage[] {
  if (!Array.isArray(value)) throw invalid('messages', 'must be a list of messages');
  if (value.length === 0) throw invalid('messages', 'must hold at least one message');
  if (value.length > MAX_MESSAGES)
    throw invalid('messages', `must not hold more than ${MAX_MESSAGES} messages`);
  return value.map((message: unknown, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(value: unknown, at: string): ChatMessage {
  if (!isObject(value)) throw invalid(at, 'must be an object with a role and a content');
  const role = ROLES.find((known) => known === value.role);
  if (role === undefined) throw invalid(`${at}.role`, `must be one of ${ROLES.join(', ')}`);
  for (const [name, member] of Object.entries(value)) checkMember(name, member, at);
  return {
    role,
    content: readContent(value.content, role, `${at}.content`),
    ...readText(value, 'name', at),
    ...readText(value, 'tool_call_id', at),
  };
}

function checkMember(name: string, value: unknown, at: string): void {
  if (['role', 'content', 'name', 'tool_call_id'].includes(name)) return;
  const saysNothing = value === null || value === '' || (Array.isArray(value) && value.length === 0);
  if (saysNothing && EMPTY_MEMBERS.has(name)) return;
  throw unsupported(`${at}.${name}`, EMPTY_MEMBERS.has(name) ? 'is not supported' : 'is not a known field');
}

function readText(
  message: Members,
  name: 'name' | 'tool_call_id',
  at: string,
): Partial<Record<typeof name, string>> {
  const value = message[name];
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') throw invalid(`${at}.${name}`, 'must be a text');
  return { [name]: value };
}

function readContent(value: unknown, role: ChatMessage['role'], at: string): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value.map((part: unknown, index) => readPart(part, `${at}[${index}]`)).join('');
  // An assistant's message may have had no text.
  if ((value === null || value === undefined) && role === 'assistant') return '';
  throw invalid(at, 'must be a text or a list of text parts');
}

function readPart(value: unknown, at: string): string {
  if (!isObject(value)) throw invalid(at, 'must be an object with a type');
  const { type, text } = value;
  if (typeof type !== 'string') throw invalid(`${at}.type`, 'must be a text');
  if (type !== 'text')
    throw unsupported(`${at}.type`, `is ${JSON.stringify(type.slice(0, 40))}, but only "text" is supported`);
  if (typeof text !== 'string') throw invalid(`${at}.text`, 'must be a text');
  const other = Object.keys(value).find((name) => name !== 'type' && name !== 'text' && value[name] !== null);
  if (other !== undefined) throw unsupported(`${at}.${other}`, 'is not a known field');
  return text;
}
