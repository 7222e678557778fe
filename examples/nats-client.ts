// Streams an answer over NATS: npx tsx examples/nats-client.ts URL ["question"], with the URL that `npm start` prints as its broker.
// Keys come from the environment: TOKENRAIL_API_KEY for the gateway, TOKENRAIL_NATS_TOKEN for the broker, where they want one.
import { connect, createInbox } from 'nats';

const easy =
  'Daphne keeps 40 pencils in a drawer. A friend gives Daphne 11 pencils. What is the number of pencils now?';
const [servers, content = easy] = process.argv.slice(2);
const { TOKENRAIL_API_KEY: api_key, TOKENRAIL_NATS_TOKEN: token } = process.env;
const bus = await connect({ servers, ...(token && { token }) });
const inbox = createInbox();
const answer = bus.subscribe(inbox);
const request = { model: 'tokenrail', messages: [{ role: 'user', content }], api_key };
bus.publish('tokenrail.requests', JSON.stringify(request), { reply: inbox });
for await (const message of answer) {
  if (message.headers?.code === 503) throw new Error('no gateway listens');
  if (message.data.length === 0) break; // the end of the answer
  type Chunk = { choices?: { delta: { content?: string } }[]; error?: { code: string; message: string } };
  const { choices, error } = message.json<Chunk>();
  if (error) throw new Error(`${error.code}: ${error.message}`);
  process.stdout.write(choices?.[0]?.delta.content ?? '');
}
await bus.close();
