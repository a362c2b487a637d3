import OpenAI, { APIError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { type EndHabit, endHabits } from '../../gateway/development/hub/habits.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { payingFetch } from '../harness/buyer.ts';
import { askToStream, listen } from '../harness/doors/listen.ts';
import { openService, type ReceiptBody, type Service } from '../harness/doors/open-service.ts';
import { openSocket } from '../harness/doors/socket.ts';
import { openHubServer } from '../harness/receipt/inference/hub-server.ts';
import { atEnd } from '../harness/release.ts';

/* What a caller receives if the hub breaks a stream off, by the official client, by REST and on the graph. */

const KEY = 'sk-one-4f1b7c9d02aa';
let service: Service;
let habit: EndHabit;

beforeAll(async () => {
  const hub = await openHubServer(response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (habit.cuts) response.write(habit.stream, () => response.destroy());
    else response.end(habit.stream);
  });
  atEnd(() => hub[Symbol.asyncDispose]());
  const settings = [{ name: 'one', base_url: hub.base_url, api_key: KEY, models: ['some/model'] }];
  service = await openService({ HUBS: JSON.stringify(settings) });
});

const messages = [{ role: 'user' as const, content: 'Count' }];
const model = 'some/model';
const byKey = { Authorization: 'Bearer a-live-key' };

async function buyer() {
  const payer = await service.chain.newWallet();
  const openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: 'none', maxRetries: 0, fetch: payingFetch(payer) });
  return { payer, openai };
}

/** All that the client yields, and the error that it throws at the end. */
async function read<T>(stream: AsyncIterable<T>): Promise<{ readonly all: T[]; readonly thrown: unknown }> {
  const all: T[] = [];
  try {
    for await (const one of stream) all.push(one);
  } catch (thrown) {
    return { all, thrown };
  }
  return { all, thrown: null };
}

const breaking = [
  'dev/cuts-off',
  'dev/ends-with-error-event',
  'dev/ends-with-bare-error',
  'dev/runs-out-of-resources',
] as const;

describe.each(breaking)('%s, by the official openai client', name => {
  it('chat.completions: yields the pieces and the receipt, then throws', async () => {
    habit = endHabits[name];
    const { payer, openai } = await buyer();
    const { all, thrown } = await read(await openai.chat.completions.create({ model, messages, stream: true }));
    expect(all.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('One two ');
    expect(all.flatMap(({ choices }) => choices.flatMap(({ finish_reason }) => finish_reason ?? []))).toEqual([]);
    expect((all.at(-1) as unknown as { svc: ReceiptBody }).svc).toMatchObject({ proof_outcome: 'settled' });
    expect(thrown).toBeInstanceOf(APIError);
    expect(thrown).toMatchObject({
      code: 'hub_broke_off',
      message: expect.stringContaining('Send the same request with the same payment'),
    });
    expect(await service.transfersFrom(payer)).toHaveLength(1);
  });

  it('responses: yields response.failed with the receipt, then throws', async () => {
    habit = endHabits[name];
    const { openai } = await buyer();
    const { all, thrown } = await read(await openai.responses.create({ model, input: 'Count', stream: true }));
    expect(all.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', output_text: 'One two ', svc: { proof_outcome: 'settled' } },
    });
    expect(thrown).toBeInstanceOf(APIError);
    expect(thrown).toMatchObject({ code: 'hub_broke_off' });
  });
});

it.each(['dev/odd-finish-reason', 'dev/anthropic-finish-reason'] as const)(
  '%s: stop, and nothing is thrown',
  async name => {
    habit = endHabits[name];
    const { openai } = await buyer();
    const { all, thrown } = await read(await openai.chat.completions.create({ model, messages, stream: true }));
    expect(thrown).toBeNull();
    expect(all.at(-1)).toMatchObject({ choices: [{ finish_reason: 'stop' }], svc: { proof_outcome: 'settled' } });
  },
);

describe('subscription chatCompletionStream', () => {
  it('ends with the receipt, and then the reason as an error', async () => {
    habit = endHabits['dev/cuts-off'];
    const input = 'input: { model: "some/model", messages: [{ role: "user", content: "Count" }] }';
    const query = `subscription { chatCompletionStream(${input}) { choices { delta { content } finishReason } svc } }`;
    const heard = await openSocket(service, { api_key: 'a-live-key' }).all(query);
    const [receipt, reason] = heard.slice(-2);
    const chunk = receipt?.data?.chatCompletionStream as JsonObject;
    expect(chunk).toMatchObject({ choices: [], svc: { waived_by: 'live_key' } });
    expect(reason?.errors).toMatchObject([{ extensions: { code: 'hub_broke_off', charged: false } }]);
  });
});

describe('what a hub says as it breaks off', () => {
  const errorHabit = (error: JsonObject): EndHabit => ({
    source: 'made up',
    stream: `${endHabits['dev/cuts-off'].stream}data: ${JSON.stringify({ error })}\n\n`,
  });
  const readStream = async () => (await listen(service, askToStream('Say', { model }), { headers: byKey })).rest();

  it('is quoted, with its code and type beside it', async () => {
    habit = errorHabit({ message: 'Provider disconnected', code: 'server_error', type: 'upstream_error' });
    const { error } = await readStream();
    expect(error).toMatchObject({
      hub_said: { code: 'server_error', type: 'upstream_error' },
      error: { code: 'hub_broke_off', message: expect.stringContaining('The hub said: "Provider disconnected". ') },
    });
  });

  it.each([
    ['a key', `The key ${KEY} has expired`],
    ['an organisation', 'org-AbCdEf0123456789 is over its limit'],
    ['an address', 'http://10.0.0.7:8000/v1 went away'],
  ])('is not where it names %s', async (_, message) => {
    habit = errorHabit({ message, code: KEY });
    const { error } = await readStream();
    expect(error).toMatchObject({ error: { code: 'hub_broke_off' } });
    expect(error).not.toHaveProperty('hub_said');
    expect(JSON.stringify(error)).not.toContain('The hub said');
    expect(JSON.stringify(error)).not.toMatch(/4f1b7c9d02aa|AbCdEf0123456789|10\.0\.0\.7/);
  });

  it('of the request itself has no rerun: the same would come of it', async () => {
    habit = errorHabit({ message: 'Too long.', code: 'context_length_exceeded' });
    const payer = await service.chain.newWallet();
    const by = payingFetch(payer);
    const { error } = await (await listen(service, askToStream('Too long', { model }), { by })).rest();
    expect(error).toMatchObject({ reruns_left: 0, hub_said: { code: 'context_length_exceeded' } });
    expect(error).toMatchObject({
      error: { message: expect.stringContaining('Change the request and send it with a new payment.') },
    });
  });
});
