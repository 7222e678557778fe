// Streams an answer over NATS: npx tsx examples/nats-client.ts nats://127.0.0.1:4222 "Your question"
import { connect, createInbox } from 'nats';

const [servers, content = 'Tom has 3 apples and buys 4. How many?'] = process.argv.slice(2);
const bus = await connect({ servers });
const inbox = createInbox();
const answer = bus.subscribe(inbox);
const request = { model: 'tokenrail', messages: [{ role: 'user', content }] };
bus.publish('tokenrail.requests', JSON.stringify(request), { reply: inbox });
for await (const message of answer) {
  if (message.data.length === 0) break; // the end of the answer, or nobody listens
  const chunk = message.json<{ choices?: { delta: { content?: string } }[] }>();
  process.stdout.write(chunk.choices?.[0]?.delta.content ?? '');
}
await bus.close();
