import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMessage, toolCall } from '../../harness/mcp-message.ts';
import { openRestFixture, type RestFixture, succeed } from '../../harness/rest-compat/fake-port.ts';

let house: RestFixture;
beforeAll(async () => {
  house = await openRestFixture();
  succeed(house.port, { answer: { id: 'an-id' } });
});
afterAll(() => house.close());

const paid = { 'x402/payment': { x402Version: 2 } };
const chat = { messages: [{ role: 'user', content: 'Hello' }] };

describe('long work', () => {
  it('tells that it goes on, to whoever asks for that, and ends with the result', async () => {
    const heard = await sendMessage(house.url, toolCall('chat_completions', chat, { ...paid, progressToken: 'mine' }));
    expect(heard.headers.get('content-type')).toContain('text/event-stream');
    const messages = [...heard.text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(messages[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'mine', progress: 0 },
    });
    expect(messages.at(-1)).toMatchObject({ id: 1, result: { structuredContent: { id: 'an-id' } } });
  });

  it('tells more with each word, for as long as it takes', async () => {
    const slow = Promise.withResolvers<void>();
    const { execute } = house.port;
    house.port.execute = async operation => {
      await slow.promise;
      return execute.call(house.port, operation);
    };
    const answer = await fetch(`${house.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify(toolCall('chat_completions', chat, { ...paid, progressToken: 7 })),
    });
    let text = '';
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString();
      // After two notifications the call may end.
      if (text.split('notifications/progress').length > 2) slow.resolve();
    }
    house.port.execute = execute;
    const progress = [...text.matchAll(/"progress":(\d+)/g)].map(([, count]) => Number(count));
    expect(progress).toEqual([...new Set(progress)].sort((one, other) => one - other));
    expect(text).toContain('"structuredContent":{"id":"an-id","usage":null}');
  });

  it.each(['application/json', '*/*', 'application/json, text/event-stream;q=0'])(
    'to whoever reads no events, by Accept: %s, it is one object',
    async accept => {
      const heard = await sendMessage(
        house.url,
        toolCall('chat_completions', chat, { ...paid, progressToken: 'mine' }),
        { accept },
      );
      expect(heard.body?.result).toMatchObject({ structuredContent: { id: 'an-id' } });
    },
  );
});
